(* The logarithm of a uniformly distributed number has an exponential distribution. Rounded to
   integers, that is a geometric distribution. *)
type t = { random : Random.State.t; scale : float (* 0: each toss is heads *) }

let make ?rand ~sampling_rate () =
  let random = match rand with Some r -> r | None -> Random.State.make [| 2003; 13; 58 |] in
  { random; scale = (if sampling_rate >= 1. then 0. else 1. /. log1p (-.sampling_rate)) }

let draw { random; scale } =
  if scale = 0. then 1
  else
    let tails = log (1. -. Random.State.float random 1.) *. scale in
    if tails < 1e18 then 1 + int_of_float tails else max_int
