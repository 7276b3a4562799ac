let () = print_int (List.length (List.init 100000 string_of_int)); print_newline ()
