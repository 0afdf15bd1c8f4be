package figures
