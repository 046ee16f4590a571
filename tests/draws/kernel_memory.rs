//! What the kernel allocates: the encoded rows once, and nothing between two gradients.

use allocation_counter::{AllocationInfo, measure};
use dpm::kernel::{Block, Design, DesignBuilder, Family, Layout};
use dpm::mechanism::OsBits;
use dpm::mechanism::langevin::{Normals, Posterior, Potential};

fn build(n: usize, dense: usize, blocks: &[Block], declared: Option<usize>) -> Design {
    let layout = Layout::projected(dense, blocks.to_vec(), 1.0).unwrap();
    let mut builder = DesignBuilder::new(layout, Family::Logistic, declared).unwrap();
    let (row, levels) = (vec![0.25; dense], vec![1; blocks.len()]);
    for i in 0..n {
        builder.push(&row, &levels, (i % 2) as f64).unwrap();
    }
    builder.finish()
}

fn shapes() -> [(usize, usize, Vec<Block>); 4] {
    let mixed = vec![Block::full(9), Block::full(16), Block::full(42), Block::full(3_000)];
    [(7_988, 784, vec![]), (32_561, 0, vec![Block::full(7); 14]), (20_000, 6, mixed), (5_001, 9, vec![])]
}

/// Peak of the heap while a matrix is built, over the bytes of its encoded rows: at most 1.2, with n known or not.
#[test]
fn peak_memory_is_the_encoded_size() {
    for (n, dense, blocks) in shapes() {
        for declared in [Some(n), None] {
            let mut encoded = 0;
            let used: AllocationInfo = measure(|| {
                let design = build(n, dense, &blocks, declared);
                encoded = n * design.layout().row_bytes();
            });
            let ratio = used.bytes_max as f64 / encoded as f64;
            assert!((1.0..=1.2).contains(&ratio), "{n} x {dense}, declared {declared:?}: {ratio}");
        }
    }
}

/// A thousand gradients and their noise, on one thread and as seen from one of two: no allocation.
#[test]
fn nothing_is_allocated_between_steps() {
    for (n, dense, blocks) in shapes() {
        let design = build(n.min(3_000), dense, &blocks, None);
        let d = design.dimension();
        let mut posterior = Posterior::new(&design, 1.0, 0.5, vec![(1.0, 0.0); d]).unwrap();
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let used = pool.install(|| {
                let (mut bits, theta, mut gradient) = (OsBits::new().unwrap(), vec![0.1; d], vec![0.0; d]);
                posterior.gradient(&theta, &mut gradient).unwrap();
                let mut normals = Normals::new(&mut bits);
                measure(|| {
                    for _ in 0..100 {
                        posterior.gradient(&theta, &mut gradient).unwrap();
                        normals.draw().unwrap();
                    }
                })
            });
            assert_eq!(used.count_total, 0, "{n} x {dense} on {threads} threads");
        }
    }
}
