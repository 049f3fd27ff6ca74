# The choice among several translations of a line: dragoman rerank.
dragoman_room(extras/reranking ROOMS inference evaluation tokenizer base)
dragoman_room(extras/reranking/commands
  ROOMS extras/reranking app/commands app/frame inference inference/search evaluation tokenizer base)
