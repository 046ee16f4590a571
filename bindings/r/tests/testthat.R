library(testthat)
library(dpm)
test_check("dpm")
