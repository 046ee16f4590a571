#!/bin/sh
# Pictures of reports, plots and the prompt by headless chromium, for people to look at; and a check of every page by script:
# nothing overlaps, leaves its frame or has too little contrast, at 1280 and 390 pixels, light and dark.
# screens.sh [FOLDER]; takes the debug build, or the binary that DPM_BIN names; wants chromium, and python3 with pyte for the prompt.
set -eu
cd "$(dirname "$0")/../.."
out="${1:-target/screens}"
[ -n "${DPM_BIN:-}" ] || cargo build --quiet
dpm="$(realpath "${DPM_BIN:-target/debug/dpm}")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
out="$(realpath "$out")"
failed=0

browser() { # THEME(0 dark, 1 light) WIDTH HEIGHT ARGUMENTS..
    theme="$1" size="$2,$3"
    shift 3
    chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
        --disable-sync --hide-scrollbars --allow-file-access-from-files "--blink-settings=preferredColorScheme=$theme" \
        --virtual-time-budget=3000 "--user-data-dir=$work/profile" "--window-size=$size" "$@" 2>/dev/null
}

# A window cannot be as narrow as a telephone: a frame in a page can.
framed() { # PAGE WIDTH HEIGHT
    printf '<!doctype html><body style="margin:0"><iframe src="%s" style="border:0" width="%s" height="%s"></iframe><script>onload = () => setTimeout(() => { const f = document.querySelector("iframe").contentDocument.getElementById("found"); const p = document.createElement("pre"); p.hidden = true; p.textContent = f ? f.textContent : "FAULT the page was not read"; document.body.append(p) }, 500)</script></body>' "$1" "$2" "$3"
}

look() { # NAME PAGE HEIGHT: pictures of a page in both themes and widths, and what is wrong with it
    { cat "$2"; echo "<script>"; cat editors/screens/check.js; echo "</script>"; } > "$work/checked.html"
    for width in 1280 390; do
        framed checked.html "$width" "$3" > "$work/frame.html"
        for theme in 1:light 0:dark; do
            name="$1-$width-${theme#*:}"
            browser "${theme%:*}" "$width" "$3" "--screenshot=$out/$name.png" "file://$work/frame.html" > /dev/null
            browser "${theme%:*}" "$width" "$3" --dump-dom "file://$work/frame.html" > "$work/dom"
            if grep -q '>FINE<' "$work/dom"; then
                echo "$name: fine"
            else
                failed=1
                echo "$name:"
                sed -n '/FAULT/,/<\/pre>/p' "$work/dom" | sed 's/<[^>]*>//g; s/^/    /' | head -20
            fi
        done
    done
}

for name in 01_beta_bernoulli 06_logistic 10_groups 13_two_releases; do
    "$dpm" report "examples/$name.dpm" -o "$work/report.html"
    look "report-$name" "$work/report.html" 4600
done

# Results: what was released beside the prior.
cp examples/12_noisy_posterior.dpm examples/01_beta_bernoulli.dpm "$work"
"$dpm" run "$work/12_noisy_posterior.dpm" --data examples/12_ballots.csv -o "$work/result.json" > /dev/null
"$dpm" run "$work/01_beta_bernoulli.dpm" --data examples/01_staff.csv -o "$work/draw.json" > /dev/null
"$dpm" report "$work/result.json" -o "$work/report.html"
look report-result "$work/report.html" 4600

# Plots: every kind on one page.
{
    echo '<!doctype html><html lang="en"><meta charset="utf-8"><title>plots</title><body style="margin:0;background:#fff"><main style="display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,36rem),1fr))">'
    for name in 01_beta_bernoulli 06_logistic 13_two_releases; do
        for shows in rdp dp tradeoff error; do
            "$dpm" plot "examples/$name.dpm" --shows "$shows" -o "$work/plot.svg"
            echo '<figure style="margin:0">'
            sed 's/<svg width="800" height="560" /<svg style="width:100%;height:auto" /' "$work/plot.svg"
            echo '</figure>'
        done
    done
    for result in draw result; do
        "$dpm" plot "$work/$result.json" --shows posterior -o "$work/plot.svg"
        echo '<figure style="margin:0">'
        sed 's/<svg width="800" height="560" /<svg style="width:100%;height:auto" /' "$work/plot.svg"
        echo '</figure>'
    done
    echo '</main></body></html>'
} > "$work/plots.html"
look plots "$work/plots.html" 3400
if "$dpm" plot examples/01_beta_bernoulli.dpm -o "$out/plot.png" 2>/dev/null; then echo "plot.png: as dpm writes it"; fi

# The prompt, in a terminal.
python="${PYTHON:-python3}"
if "$python" -c 'import pyte' 2>/dev/null; then
    cp examples/01_staff.csv "$work/staff.csv"
    "$python" editors/screens/terminal.py "$dpm" "$work" "$work/terminal.html"
    browser 1 760 2600 "--screenshot=$out/prompt.png" "file://$work/terminal.html" > /dev/null
    echo "prompt.png"
else
    echo "the prompt is left out: $python has no pyte"
fi
exit "$failed"
