package wake

const instances = "fs.inotify.max_user_instances"
