"""The seventeen analyses of the gallery: their data sets, what each asks, the same without privacy, and what to make of the difference."""

import without as w

INTRODUCTION = """
# Gallery

Seventeen analyses of public data: the program, what dpm printed, and the same analysis without privacy. Bounds, levels and bins must come from what is
known of a quantity, never from its rows; these sets are public and had been seen, so bounds are round numbers that the quantity suggests, and the list of
destinations is that of the file. Every run draws new noise, so another run prints other numbers. Intervals hold 90 % unless something else is said; a
bound of 95 % after `±` is of the noise alone; behind a table it is that of one cell times the root of their number, so a single cell is off by much less.
Chains are those of [released counts](counts.md).

`benches/gallery/run.py` writes this page; the tests run all that is released here on small samples, and `run.py --short` the chains as well. Rows of these public sets stand for rows about
people; where a row is an hour, a wine or a flight, think of it as one.
"""


def uci(name, doi, more=""):
    return f"[{name}, UCI Machine Learning Repository](https://doi.org/{doi}){more}, CC BY 4.0"


# Made-up samples of the sets whose licence is that of an R package: from the declared domains, not from the rows.
def gbsg(dice):
    return {"hormon": dice.randint(0, 1), "rfstime": dice.randint(8, 3000), "status": dice.randint(0, 1)}


def flchain(dice):
    measured = "" if dice.random() < 0.2 else round(dice.uniform(0.5, 2), 1)
    return {"death": dice.randint(0, 1), "futime": dice.randint(0, 5000), "creatinine": measured}


def nmes(dice):
    return {"income": round(dice.lognormvariate(0.6, 0.8), 4)}


SETS = {
    "bank": {"file": "bank/bank.csv", "source": uci("Bank Marketing (bank.csv)", "10.24432/C5K306")},
    "power": {"file": "power_plant/power_plant.csv", "source": uci("Combined Cycle Power Plant", "10.24432/C5002N")},
    "adult": {"file": "adult/adult_train.csv.gz", "source": uci("Adult", "10.24432/C5XW20", " (training part)")},
    "flchain": {"file": "flchain/flchain.csv", "source": "Serum free light chain and mortality (`flchain` of the R package survival)", "made_up": flchain},
    "gbsg": {"file": "gbsg/gbsg.csv", "source": "German Breast Cancer Study Group (`gbsg` of the R package survival)", "made_up": gbsg},
    "nmes": {"file": "nmes1988/nmes1988.csv", "source": "National Medical Expenditure Survey 1988 (`NMES1988` of the R package AER)", "made_up": nmes},
    "flights": {"file": "nycflights/nycflights.csv", "source": "Flights from New York City in 2013, US Bureau of Transportation Statistics, a sample, public domain"},
    "wdbc": {"file": "breast_cancer_wdbc/wdbc.csv", "source": uci("Breast Cancer Wisconsin (Diagnostic)", "10.24432/C5DW2B")},
    "wine": {"file": "wine_quality/wine_white.csv", "source": uci("Wine Quality (white)", "10.24432/C56S3T")},
    "bikes": {"file": "bike_sharing/hour.csv", "source": uci("Bike Sharing (hour.csv)", "10.24432/C5W894")},
}


def analysis(name, data_set, columns, title, question, without, remark, **more):
    return {"name": name, "set": data_set, "columns": columns.split(), "title": title, "question": question, "without": without, "remark": remark, **more}


ANALYSES = [
    analysis(
        "01_ab_test", "bank", "contact y", "An A/B test", "Does a call to a mobile phone sell more often than one to a fixed line?", w.ab_test,
        "The two agree: the noise of a cell is a few rows, less than the sampling error of 300 calls to fixed lines. Nobody was assigned a line at random, so this is a "
        "comparison, not an effect."),
    analysis(
        "02_pooled_poll", "bank", "job housing", "A poll with partial pooling", "What share of each occupation has a housing loan?", w.pooled_poll,
        "Large groups agree to within a point. Small ones, such as students, have wider intervals than without privacy, because the noise is as large for 84 "
        "rows as for 969, and `unknown` (38 rows) is estimated mainly from the other groups. The raw shares use no pooling."),
    analysis(
        "03_linear", "power", "AT PE", "A linear regression with unknown sd", "How much power does a plant lose for each degree of the air?", w.linear,
        "A normal law needs five noisy sums and no bins: `moments` releases them at once, for a private `air` too. Both intervals of the slope and of the sd "
        "hold what the other analysis gives, and are three to nine times as long, because one row may move a product of two bounded columns far more than "
        "most rows do. Narrower bounds of the two columns, where they are known, make them shorter."),
    analysis(
        "04_logistic", "adult", "sex education-num income", "A logistic regression with a category",
        "Who earns more than 50,000 dollars a year, by sex and years of school?", w.logistic,
        "The three numbers agree to within one sd, and the noise makes the intervals a few per cent longer. Years of school are counted one by one, "
        "not in bins: with marital "
        "status as a further column and years in four bins, the slope came out as 0.33 instead of 0.39, as warning W0511 predicts, and with all years and both "
        "categories (448 cells) the chain did not end within three minutes. With several categories of many levels this method becomes slow."),
    analysis(
        "05_poisson_exposure", "flchain", "death futime", "A Poisson rate with exposure", "How many deaths are there in 1,000 person-years of follow-up?",
        w.exposure,
        "The posterior of the rate needs two sums only: of deaths and of years of follow-up. `sums` releases both at once, with noise, and the model of "
        "them knows the noise of each, so the interval is here that without privacy to one part in a hundred. Follow-up ends with the death, and that does no harm here: the "
        "chance of a row, rate to the power of death times exp(-rate years), depends on the rate as that of a Poisson number does."),
    analysis(
        "06_survival", "gbsg", "hormon rfstime status", "Survival with censoring", "Does hormone therapy delay the relapse of breast cancer?", w.survival,
        "dpm has no likelihood of censored times: its open last bin covers only a follow-up that ends for all on one day. The road here is a life "
        "table, with relapse and censoring as 11 outcomes, written as logarithms by hand. It is exact as far as times are spread evenly within a "
        "year. Both say that hormones help. The log odds ratio `b` of a year is expected to be about a tenth further from 0 than a log hazard ratio; the "
        "rest of the "
        "difference is about one sd, and that sd, 0.16 for 0.13, is what noise and yearly bins cost."),
    analysis(
        "07_two_way_table", "adult", "sex marital-status", "A two-way table", "How are sex and marital status related?", w.two_way,
        "Every cell is within the bound. The noise is a few rows, whatever a cell holds: nothing for 13,000 married men, a great deal for the cell of 9 "
        "men with a spouse in the armed forces. An odds ratio of large cells is as good as without privacy; one of that cell would be worthless, and nothing "
        "warns of it."),
    analysis(
        "08_mean_variance", "nmes", "income", "Mean and variance of an income", "What are the mean and the variance of the income of the elderly?",
        w.mean_variance,
        "The noise is small beside the sampling error of the mean. The bounds are not: they are 0 to 200 thousand, and the few "
        "incomes beyond are moved to the bound, which takes away some of the variance and no noise reveals. Wider bounds would trade this for more noise."),
    analysis(
        "09_median", "nmes", "income", "Median and quartiles of an income", "What are the median and the quartiles of the same income?", w.median,
        "All three are well within the intervals without privacy. What `±` gives is a number of rows, not of income: each quantile has a rank at most so many "
        "rows from its own, with 95 %; of incomes that crowd at a few values it may be more, for any data 178. Bounds may be wide, here a million dollars, "
        "at hardly any cost."),
    analysis(
        "10_by_month", "flights", "month arr_delay", "Counts by month", "How many flights arrive more than half an hour late, by month?", w.by_month,
        "Counts of hundreds with noise of a few rows: the shares agree to within a few thousandths."),
    analysis(
        "11_mixture", "wdbc", "radius_mean", "A mixture", "Are there two kinds of tumours, by the mean radius of their cell nuclei?", w.mixture,
        "Two kinds are found without privacy and with it, in the same places, with intervals of about the same length: 569 rows are few enough for "
        "sampling error to rule. The real groups (benign 12.1, malignant 17.5, 37 % malignant) are near both."),
    analysis(
        "12_both_moments", "wine", "pH", "Both moments of a normal law", "What are the mean and the sd of the pH of white wines?", w.both_moments,
        "A normal law needs two noisy sums and no bins: `moments` releases them at once. The mean is as good as without privacy; the interval of the sd is "
        "about twice as long and holds the other estimate, though the pH has longer tails than a normal law. Sums of squares hear of every row alike; "
        "a model of counts in 40 bins, where the noise hides the few rows of the tails, gave an sd that was too small."),
    analysis(
        "13_missing", "flchain", "creatinine", "Missing values", "What is the mean creatinine of those who were measured, and how many were not?", w.missing,
        "The two agree to about half a hundredth of a unit. `mean(.., where = ..)` divides a noisy sum by a noisy count, and its interval is of the noise: the mean "
        "of all rows that were measured lies in it, not that of a population. Values above 5, which the bound moves, are rare; those missing may differ."),
    analysis(
        "14_dates", "bikes", "dteday cnt", "Dates", "On which days of the week is a bicycle rental busy, with more than 300 rides in an hour?", w.dates,
        "The counts agree to the bound. One hour is a row here, so the guarantee protects one hour, not one rider, who has many."),
    analysis(
        "15_top_levels", "flights", "dest", "The most frequent levels of a category", "Which destinations are the most frequent?", w.top_levels,
        "dpm has no query for the top levels, and no function that sorts: all levels are counted, and the reader looks for the largest, of which the terminal "
        "shows the first 40 in the order of their declaration (`--json` and `-o` have all). The order is right where counts differ by more than the "
        "noise; places "
        "that differ by a handful of rows, such as the second and the third, may change theirs."),
    analysis(
        "16_five_million", "adult", "sex hours-per-week", "Five million rows", "How many hours a week do people work, in five million rows?", w.large,
        "With so many rows privacy costs nothing that can be seen: the noise is smaller than the sampling error. The quartiles are exact because "
        "hours are heaped "
        "at 40. Delta is well below one in the number of rows, as it should be.",
        large=True, recipe="The rows are drawn with replacement from the 32,561, by Python's `random.Random(1)`, until there are 5,000,000."),
    analysis(
        "17_rows_per_person", "flights", "tailnum arr_delay", "Several rows per person", "What share of flights is late, if an aircraft is what is protected?",
        w.rows_per_person,
        "The aircraft stands for a person with many rows. Twenty rows of each count, which leaves out part of the busiest ones, and the share is of the rows "
        "kept. The interval knows of the noise, but takes rows for independent; those of one aircraft are not, and the "
        "last line shows how much that alone adds."),
]
