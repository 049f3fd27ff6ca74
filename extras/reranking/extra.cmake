# The choice among several translations of a line: dragoman rerank.
dragoman_room(extras/reranking ROOMS evaluation base)
dragoman_room(extras/reranking/commands ROOMS extras/reranking app/commands app/frame base)
