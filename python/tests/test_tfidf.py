"""The descriptor `tfidf` compared with scikit-learn's TfidfVectorizer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from widemargin.similarity import Linear, Tfidf, pairwise

# Letters of one to four bytes, digits, punctuation, white space of several kinds.
TEXTS = st.lists(
    st.text(alphabet="aabbB cé\u00df\u4e2d\U0001f600_1.-, \t\n\u2003", max_size=24), min_size=2, max_size=8
)
ANALYZERS = {"characters": "char", "words-padded": "char_wb", "words": "word"}


@settings(deadline=None)
@given(
    TEXTS, st.integers(1, 4), st.integers(0, 3), st.sampled_from(sorted(ANALYZERS)), st.booleans(), st.integers(1, 2)
)
def test_vectors_are_those_of_scikit_learn(texts, first, more, by, sublinear, min_df):
    words = {"token_pattern": r"(?u)\w+"} if by == "words" else {}
    peer = TfidfVectorizer(
        analyzer=ANALYZERS[by],
        ngram_range=(first, first + more),
        sublinear_tf=sublinear,
        min_df=min_df,
        lowercase=False,
        **words,
    )
    ours = Tfidf(f"{first}-{first + more}", by=by, sublinear=sublinear, min_df=min_df) >> Linear()
    try:
        rows = peer.fit_transform(texts).toarray()
    except ValueError:
        with pytest.raises(ValueError, match="no n-gram of it is in at least"):
            pairwise(ours, texts)
        return
    np.testing.assert_allclose(pairwise(ours, texts), rows @ rows.T, atol=1e-6)


def test_its_rarer_terms_weigh_more_and_unknown_ones_nothing():
    block = pairwise(Tfidf("1") >> Linear(), ["a", "b", "z"], ["ab", "ac", "ad"])
    idf = np.log([4 / 4, 4 / 2]) + 1
    np.testing.assert_allclose(block[0], np.full(3, 1 / np.hypot(*idf)), rtol=1e-6)
    np.testing.assert_allclose(block[1], [idf[1] / np.hypot(*idf), 0, 0], rtol=1e-6)
    np.testing.assert_array_equal(block[2], 0)
