"""diffprivlib's logistic regression, linear regression and Gaussian naive Bayes, with the public bounds of the files."""

import numpy as np
from diffprivlib.models import GaussianNB, LinearRegression, LogisticRegression
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.naive_bayes import GaussianNB as PlainBayes

from common import CLASSIFIED, EPSILONS, LINEAR, OFTEN, WIDE, Recorder, classified, load, predicted

book = Recorder()
for data in CLASSIFIED:
    (x, y), (tx, ty) = load(data + "_train"), load(data + "_test")
    # The prior of ours, normal(0, 3), is C = 9; and the default.
    for c in (1.0, 9.0):
        who = f"diffprivlib C={c:g}"

        def fit(repeat, model):
            return classified(model.fit(x, y).coef_[0], tx, ty)

        for epsilon in WIDE:
            private = lambda r: fit(r, LogisticRegression(epsilon=epsilon, data_norm=1.0, C=c, fit_intercept=False, random_state=r, max_iter=1000))
            book.record("logistic", data, epsilon, who, "pure", "stated", private, OFTEN)
    book.record("logistic", data, 0, "no privacy", "none", "-", lambda r: fit(r, Plain(C=9.0, fit_intercept=False, max_iter=1000)), 1)

for data, (scale, _) in LINEAR.items():
    (x, y), (tx, ty) = load(data + "_train"), load(data + "_test")
    d = x.shape[1]
    for intercept in (True, False):
        a, ta = (x[:, :-1], tx[:, :-1]) if intercept else (x, tx)

        def fit(repeat):
            bounds = (-np.ones(a.shape[1]), np.ones(a.shape[1]))
            model = LinearRegression(epsilon=epsilon, bounds_X=bounds, bounds_y=(-1, 1), fit_intercept=intercept, random_state=repeat)
            model.fit(a, y)
            w = np.append(model.coef_, model.intercept_) if intercept else model.coef_
            return predicted(w, tx, ty, scale)

        for epsilon in WIDE:
            book.record("linear", data, epsilon, "diffprivlib" + ("" if intercept else " no-intercept"), "pure", "stated", fit, OFTEN)
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    book.record("linear", data, 0, "no privacy", "none", "-", lambda r: predicted(best, tx, ty, scale), 1)
    level = np.zeros(d)
    level[-1] = y.mean()
    book.record("linear", data, 0, "the mean alone", "none", "-", lambda r: predicted(level, tx, ty, scale), 1)

for data in ("abalone_nb", "breast_nb", "adult_nb"):
    (x, y), (tx, ty) = load(data + "_train"), load(data + "_test")
    bounds = (-np.ones(x.shape[1]), np.ones(x.shape[1]))
    for epsilon in EPSILONS:
        fit = lambda r: {"test error": np.mean(GaussianNB(epsilon=epsilon, bounds=bounds, random_state=r).fit(x, y).predict(tx) != ty)}
        book.record("naive Bayes", data[:-3], epsilon, "diffprivlib", "pure", "stated", fit)
    book.record("naive Bayes", data[:-3], 0, "no privacy", "none", "-", lambda r: {"test error": np.mean(PlainBayes().fit(x, y).predict(tx) != ty)}, 1)
