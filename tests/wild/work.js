// Objects, buffers and worker threads.
const {Worker} = require("worker_threads");
const objects = [];
for (let i = 0; i < 2e5; i++) objects.push({i});
console.log(objects.length, JSON.stringify(objects).length);
const work = 'require("worker_threads").parentPort.postMessage(Buffer.alloc(1e5).length)';
let bytes = 0, left = 4;
for (let i = 0; i < 4; i++)
    new Worker(work, {eval: true}).on("message", n => { bytes += n; })
        .on("exit", () => { if (!--left) console.log(bytes); });
