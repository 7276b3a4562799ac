Sizes and lifetimes, on a made-up trace at rate 1 (events are 1 ms apart):

  $ $TESTDIR/make-trace >a.ctf <<'END'
  > alloc minor 2 3 main@main.ml:1
  > alloc minor 32 33 main@main.ml:2
  > collect 0
  > alloc major 300 301 main@main.ml:3
  > promote 1
  > alloc external 20000 20001 main@main.ml:4
  > collect 2
  > collect 1
  > END
  $ allotrace stats a.ctf
  158.9 KB total allocations (exact, 4 blocks at rate 1)
  
  Sampled blocks, equally weighted; sizes in words without header, large: above 256:
    blocks              4
    alive at the end    1
    mean                5083.5
    variance            74180784.75000001
    standard deviation  8612.82675722669
    maximum             20,000
    large               2
    large share         0.5
  
  Sizes:
    share        blocks  words
     50.0% ████       2  0–32
      0.0%            0  32–256
     25.0% ██         1  256–10,000
     25.0% ██         1  above 10,000
  
  Lifetimes in events (mean 3, median 2, maximum 5):
    share            blocks  lifetime
    100.0% ████████       4  1 … 10
  
  Lifetimes (mean 3.25 ms, median 2 ms, maximum 6 ms):
    share            blocks  lifetime
    100.0% ████████       4  1 ms … 10 ms
  $ allotrace stats --major-only --large 32 --segments 2 --csv a.ctf
  part,first,blocks,mean,variance,standard_deviation,maximum,large,survived,size_0_32,size_32_256,size_256_10000,size_above_10000,events_mean,events_median,events_maximum,us_mean,us_median,us_maximum,program_blocks,program_blocks_low,program_blocks_high,program_blocks_samples,program_mean,program_mean_low,program_mean_high,program_mean_samples,program_large_share,program_large_share_low,program_large_share_high,program_large_share_samples,program_large_share_of_samples
  all,0,3,6777.333333333333,87431427.55555557,9350.4773972004,20000,2,1,1,0,1,1,3,3,3,2666.6666666666665,3000,3000,3,3,3,3,6777.33,6777.33,6777.33,3,0.666667,0.666667,0.666667,2,3
  1,0,2,166,17956,134,300,1,0,1,0,1,0,3,3,3,3000,3000,3000,2,2,2,2,166,166,166,2,0.5,0.5,0.5,1,2
  2,2,1,20000,0,0,20000,1,1,0,0,0,1,3,3,3,2000,2000,2000,1,1,1,1,20000,20000,20000,1,1,1,1,1,1
  $ allotrace stats --filter heap:major a.ctf | head -12
  2.6 KB total allocations (exact, 2 blocks at rate 1)
  Filter: heap:major (matches 2 of 4 sampled blocks)
  
  Sampled blocks, equally weighted; sizes in words without header, large: above 256:
    blocks              2
    alive at the end    0
    mean                166
    variance            17956
    standard deviation  134
    maximum             300
    large               1
    large share         0.5
  $ allotrace stats --export - a.ctf
  words,samples,born_event,born_us,life_events,life_us,survived
  2,3,0,1000,2,2000,0
  32,33,1,2000,5,6000,0
  300,301,3,4000,2,3000,0
  20000,20001,4,6000,3,2000,1
  $ allotrace stats --major-only --export sizes.csv a.ctf | head -1; cat sizes.csv
  158.9 KB total allocations (exact, 4 blocks at rate 1)
  words,samples,born_event,born_us,life_events,life_us,survived
  300,301,0,4000,3,3000,0
  32,33,1,5000,3,3000,0
  20000,20001,2,6000,3,2000,1
  $ allotrace stats --major-only --filter 'life:<2ms' a.ctf
  Nothing to show: the filter matches 0 of 4 blocks: `life` removed the last 4.
  $ allotrace stats --filter 'size:1' a.ctf
  Nothing to show: the filter matches 0 of 4 blocks: `size` removed the last 4.
  $ allotrace stats --export none/sizes.csv a.ctf
  allotrace: none/sizes.csv: No such file or directory
  [1]
  $ allotrace stats --json --csv a.ctf
  allotrace: stats: --json and --csv exclude each other
  Try `allotrace stats --help`.
  [2]

Of a real trace, with the numbers that were published of it:

  $ allotrace stats --major-only --segments 4 $TRACES/irmin-replay.ctf
  79.0 GB total allocations (± 1.5 GB, 10,607 samples at rate 1e-6)
  Sites below about 22.9 MB may be invisible at this rate.
  
  Sampled blocks outside the minor heap, equally weighted; sizes in words without header, large: above 256:
    blocks              739
    alive at the end    1
    mean                737.660351826793
    variance            212710479.0226634
    standard deviation  14584.597321238027
    maximum             376,181
    large               12
    large share         0.016238159675236806
  
  Sizes:
    share            blocks  words
     98.4% ███████▉     727  0–32
      0.0%                0  32–256
      1.2% ▏              9  256–10,000
      0.4% ▏              3  above 10,000
  
  Lifetimes in events (mean 21, median 13, maximum 467):
    share         blocks  lifetime
     40.5% ███▎      299  1 … 10
     57.0% ████▌     421  10 … 100
      2.6% ▎          19  100 … 1,000
  
  Lifetimes (mean 596 ms, median 323 ms, maximum 13.75 s):
    share         blocks  lifetime
      0.1% ▏           1  10 µs … 100 µs
      0.0%             0  100 µs … 1 ms
      2.7% ▎          20  1 ms … 10 ms
     27.9% ██▎       206  10 ms … 100 ms
     56.3% ████▌     416  100 ms … 1 s
     12.7% █          94  1 s … 10 s
      0.3% ▏           2  10 s … 100 s
  
  The program's blocks, estimated by weighting each sampled block by its sampling probability:
    estimate     95% interval               of
    223,984,978  206,481,565 … 242,717,473  blocks
    2.301        2.191 … 2.416              mean words per block
    0.00365%     0.00126% … 0.0108%         above 256 words
    99.9964%     99.9491% … 99.9987%        0–32 words
    0%           0% … 0.0525%               32–256 words
    0.00362%     0.00124% … 0.0108%         256–10,000 words
    2.97e-05%    2.03e-06% … 0.000203%      above 10,000 words
  
  Segments in order of birth; sizes in words, lifetimes in events:
         mean  standard deviation  maximum  large  large share  to 32  to 256  to 10,000  above  mean life  median life  blocks
    2,748.173          29,018.182  376,181      4    2.2% ▏       181       0          2      2     36.378           21  1–185
      127.919           1,359.356   18,401      5    2.7% ▎       180       0          4      1     26.692           16  186–370
       20.843             175.731    2,116      2    1.1% ▏       183       0          2      0     16.697           13  371–555
       49.989             601.972    8,193      1    0.5% ▏       183       0          1      0      3.120            2  556–739
  $ allotrace stats --major-only --json $TRACES/irmin-replay.ctf | jq -c '[.events, .sample.blocks, .sample.mean, .sample.standard_deviation, .sample.maximum, .sample.large_share], (.sample.program | .blocks |= map_values(. / 1e6) | map_values(map_values(. * 1e6 | round)))'
  [1477,739,737.660351826793,14584.597321238027,376181,0.016238159675236806]
  {"blocks":{"value":223984978,"low":206481565,"high":242717473,"samples":739},"mean":{"value":2300604,"low":2191000,"high":2415691,"samples":739000000},"large_share":{"value":36,"low":13,"high":108,"samples":12000000,"of_samples":739000000}}

Of the blocks that a measure counts; the numbers of blocks are those of hotspots:

  $ for m in allocated live peak promoted survived; do allotrace stats -m $m $TRACES/ocamlopt.ctf | sed -n '1p;/^  blocks/p;/^  alive/p'; done
  639.3 MB total allocations (± 30.6 MB, 1,676 samples at rate 2e-5)
    blocks              1,676
    alive at the end    110
  42.0 MB live at 852 ms (± 7.8 MB, 110 samples at rate 2e-5)
    blocks              110
    alive at the end    110
  45.0 MB live at the peak, at 778 ms (± 8.1 MB, 118 samples at rate 2e-5)
    blocks              118
    alive at the end    83
  98.0 MB promoted (± 12.0 MB, 257 samples at rate 2e-5)
    blocks              257
    alive at the end    96
  42.0 MB never freed (± 7.8 MB, 110 samples at rate 2e-5)
    blocks              110
    alive at the end    110
  $ for m in allocated live peak promoted survived; do allotrace hotspots -m $m --csv --min-share 0 $TRACES/ocamlopt.ctf | awk -F, 'NR > 1 { n += $6 } END { print n }'; done
  1676
  110
  118
  257
  110

What blocks hold, by themselves and by their sizes:

  $ allotrace stats --measure byteseconds a.ctf | sed -n '1p;/^Held/,$p'
  329 B·s of bytes times lifetime (exact, 4 blocks at rate 1)
  Held by a sampled block, in words times seconds:
    mean                10.274000000000001
    variance            294.65664400000003
    standard deviation  17.165565647539847
    maximum             40
  
  Shares of held bytes times seconds:
    estimate  of
    0.496%    0–32 words
    0%        32–256 words
    2.2%      256–10,000 words
    97.3072%  above 10,000 words
  $ allotrace stats --measure byteseconds --json a.ctf | jq -c '.unit, .total, .sample.held'
  "B·s"
  {"value":329,"low":329,"high":329,"samples":20338}
  {"mean":10.274000000000001,"variance":294.65664400000003,"standard_deviation":17.165565647539847,"maximum":40,"sizes":[{"value":0.004962416988980515,"low":0.004962416988980515,"high":0.004962416988980515,"samples":2},{"value":0,"low":0,"high":0,"samples":0},{"value":0.021965992848281397,"low":0.021965992848281397,"high":0.021965992848281397,"samples":1},{"value":0.9730715901627381,"low":0.9730715901627381,"high":0.9730715901627381,"samples":1}]}
  $ allotrace stats --measure byteseconds --csv a.ctf | cut -d, -f1-3,33-
  part,first,blocks,held_mean,held_variance,held_standard_deviation,held_maximum,held_0_32,held_0_32_low,held_0_32_high,held_0_32_samples,held_0_32_of_samples,held_32_256,held_32_256_low,held_32_256_high,held_32_256_samples,held_32_256_of_samples,held_256_10000,held_256_10000_low,held_256_10000_high,held_256_10000_samples,held_256_10000_of_samples,held_above_10000,held_above_10000_low,held_above_10000_high,held_above_10000_samples,held_above_10000_of_samples
  all,0,4,10.274000000000001,294.65664400000003,17.165565647539847,40,0.00496242,0.00496242,0.00496242,2,4,0,0,0,0,4,0.021966,0.021966,0.021966,1,4,0.973072,0.973072,0.973072,1,4
  $ allotrace stats --measure byteseconds $TRACES/ocamlopt.ctf | sed -n '/^Held/,/program/p'
  Held by a sampled block, in words times seconds:
    mean                0.13767105071599037
    variance            0.5210464161771251
    standard deviation  0.7218354495154177
    maximum             23.28064
  
  Shares of held bytes times seconds:
    estimate  95% interval         of
    99.6841%  94.6378% … 99.9909%  0–32 words
    0.316%    0.00912% … 5.36%     32–256 words
    0%        0% … 5.94%           256–10,000 words
    0%        0% … 5.94%           above 10,000 words
  
  The program's blocks, estimated by weighting each sampled block by its sampling probability:
  $ allotrace stats --json a.ctf | jq -c .sample.held
  null
