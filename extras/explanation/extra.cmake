# What a model does with a sentence: dragoman explain.
dragoman_extra(report)  # whose pages and figures show it
dragoman_room(extras/explanation ROOMS inference/cpu inference inference/search model/file tokenizer base)
dragoman_room(extras/explanation/commands
  ROOMS extras/explanation extras/report extras/report/commands app/commands app/frame inference model/file base)
