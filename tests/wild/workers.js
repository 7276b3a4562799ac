// Threads with heaps of their own, and memory that they share.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (isMainThread) {
  const shared = new SharedArrayBuffer(4096), done = [];
  for (let i = 0; i < 4; i++)
    done.push(new Promise(resolve => new Worker(__filename, { workerData: { shared, i } }).on('message', resolve)));
  Promise.all(done).then(all => console.log(all.sort().join(' '), new Int32Array(shared)[0]));
} else {
  const kept = Array.from({ length: 20000 }, (_, k) => ({ k, s: 'x' + k }));
  Atomics.add(new Int32Array(workerData.shared), 0, kept.length);
  parentPort.postMessage(workerData.i * kept.length);
}
