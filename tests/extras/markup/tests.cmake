dragoman_test(extras/markup)
dragoman_test(extras/markup/commands)
