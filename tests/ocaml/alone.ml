let () = Work.run ()
