dragoman_test(extras/reranking)
