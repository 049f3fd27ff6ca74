# The best model of a text in a given time, by several trainings: dragoman best.
dragoman_extra(report)  # its page
dragoman_room(extras/best/commands ROOMS app/commands app/frame data base)
