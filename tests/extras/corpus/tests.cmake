dragoman_test(extras/corpus LINKS dragoman_extras_sample)
