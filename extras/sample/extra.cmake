# A sample corpus to try everything on: dragoman sample.
dragoman_room(extras/sample ROOMS base)
dragoman_room(extras/sample/commands ROOMS extras/sample app/commands app/frame base)
