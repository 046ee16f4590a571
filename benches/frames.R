# Five million rows from a data frame to a release, beside the command on the same rows as Parquet and as CSV: Rscript benches/frames.R [ROWS] > benches/results/frames_r.txt
# Wants the package dpm, and an optimised command named by DPM_COMMAND. Processor time, since others may share the machine.
library(dpm)

rows <- as.integer(c(commandArgs(TRUE), 5e6)[[1]])
again <- 5
set.seed(1)
frame <- data.frame(
  x = runif(rows, 0, 10), k = sample.int(100L, rows, TRUE), b = runif(rows) > 0.5,
  c = factor(sample(c("red", "green", "other"), rows, TRUE)), d = as.Date("2020-01-01") + sample.int(365L, rows, TRUE) - 1
)
program <- sprintf('budget eps(1)
private t[%d] { x: real in [0, 10], k: int in 0..100, b: bool, c: category {red, green, other}, d: date in ["2020-01-01", "2020-12-31"] }
release a = mean(x)
release m = mean(k)
release h = histogram(c, b, month(d))
', rows)
folder <- tempfile()
dir.create(folder)
file <- function(ending) file.path(folder, paste0("t.", ending))
writeLines(program, file("dpm"))
compiled <- dpm_compile(file("dpm"))
to <- base::file(file("parquet"), "wb")
dpm:::write_parquet(frame, to)
close(to)
utils::write.csv(frame, file("csv"), row.names = FALSE, quote = FALSE)
command <- function(ending) {
  status <- system2(dpm:::command(), c("run", file("dpm"), paste0("--data=t=", file(ending))), stdout = FALSE, stderr = FALSE)
  if (status != 0) stop("the command failed")
}
as_text <- frame
as_text$c <- as.character(frame$c)
roads <- list(
  "data frame" = function() dpm_run(compiled, data = list(t = frame)),
  "data frame, text for a factor" = function() dpm_run(compiled, data = list(t = as_text)),
  "command on Parquet" = function() command("parquet"),
  "command on CSV" = function() command("csv")
)
# In turn, so that what others do meets all alike.
times <- sapply(seq_len(again), function(i) sapply(roads, function(road) sum(system.time(road())[c(1, 2, 4, 5)], na.rm = TRUE)))
middle <- apply(times, 1, stats::median)
load <- if (file.exists("/proc/loadavg")) strsplit(readLines("/proc/loadavg"), " ")[[1]][[1]] else "unknown"
cat(sprintf("%d rows, %d columns to a release (benches/frames.R): seconds of processor time, R's and the command's, median and extremes of %d; load %s.\n", rows, ncol(frame), again, load))
for (name in names(roads)) cat(sprintf("%-32s %5.2f   %5.2f to %5.2f   %4.2f times the command on Parquet\n", name, middle[[name]], min(times[name, ]), max(times[name, ]), middle[[name]] / middle[["command on Parquet"]]))
unlink(folder, recursive = TRUE)
