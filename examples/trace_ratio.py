"""
The best subset against the best single features
================================================

The five features that separate three wines best *together*, the five that do it one at a time, and the path over every
size.
"""

from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import MinMaxScaler

from eigensieve import TraceRatioSelector, fisher_score, laplacian_score
from eigensieve.plotting import TraceRatioPathDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
X = MinMaxScaler().set_output(transform="pandas").fit_transform(X)  # the trace ratio looks at scale

best = TraceRatioSelector(5).fit(X, y)
single = TraceRatioSelector(5, level="feature").fit(X, y)
print(f"best subset      {best.subset_score_:.3f}", *best.get_feature_names_out())
print(f"best one by one  {single.subset_score_:.3f}", *single.get_feature_names_out())
print("the score on the way to the optimum:", [round(value, 3) for value in best.history_])

# %%
# Every size at once, and a size read off the curve.

path = best.path()
TraceRatioPathDisplay.from_estimator(best)
print("size at the knee:", path.choose(), "; largest size with a score of at least 1:", path.choose(min_score=1.0))

# %%
# Without labels, and with labels for every fifth sample; the neighbour graph is built once.

unlabelled = TraceRatioSelector(5, score="laplacian").fit(X)
print("no labels       ", *unlabelled.get_feature_names_out())
some = y.where(y.index % 5 == 0, -1)
semi = TraceRatioSelector(5, score="semi-supervised", within=unlabelled.graph_).fit(X, some)
print("a fifth labelled", *semi.get_feature_names_out())

# %%
# The scores of single features in scikit-learn's own selector.

for score in (fisher_score, laplacian_score):
    print(score.__name__, *SelectKBest(score, k=3).fit(X, y).get_feature_names_out())
