/**
 * Node's worker_threads: a Worker for each call, with `resourceLimits` and `terminate`. Not a sandbox: the code can use
 * all of Node. It shows the cost of a separate thread.
 */
import { Worker } from 'node:worker_threads';
import { DEFAULT_MEMORY, type Engine, type HostFunctions, type Outcome } from '../engine.ts';

/** Code that the Worker runs before the call's own. */
const DRIVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const waiting = new Map();
  parentPort.on('message', ({ id, value }) => {
    waiting.get(id)(value);
    waiting.delete(id);
  });
  let calls = 0;
  for (const name of workerData.names) {
    globalThis[name] = (...args) => new Promise((resolve) => {
      waiting.set(++calls, resolve);
      parentPort.postMessage({ id: calls, name, args });
    });
  }
  import('data:text/javascript,' + encodeURIComponent(workerData.source))
    .then(({ default: exported }) => (typeof exported === 'function' ? exported(...workerData.args) : exported))
    .then((result) => parentPort.postMessage({ status: 'success', result }))
    .catch((error) => parentPort.postMessage({ status: 'error', message: String(error) }));
`;

type FromWorker = { id: number; name: string; args: never[] } | (Outcome & { id?: undefined });

export async function openWorker(): Promise<Engine> {
  return {
    name: 'worker',
    async run({ source, args = [], functions = {}, memoryBytes = DEFAULT_MEMORY, deadlineMs }) {
      const worker = new Worker(DRIVER, {
        eval: true,
        env: {},
        workerData: { source, args, names: Object.keys(functions) },
        resourceLimits: { maxOldGenerationSizeMb: memoryBytes / 1024 / 1024 },
      });
      let outcome: Outcome | undefined;
      const end = (last: Outcome) => {
        outcome ??= last;
        void worker.terminate();
      };
      const ended = () => end({ status: 'terminated', message: 'deadline' });
      const timer = deadlineMs === undefined ? undefined : setTimeout(ended, deadlineMs);
      const gone = new Promise((resolve) => worker.once('exit', resolve));
      worker.on('message', (message: FromWorker) => {
        if (message.id === undefined) end(message);
        else void answer(worker, functions, message);
      });
      worker.on('error', (error: Error & { code?: string }) =>
        end({
          status: error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'error',
          message: error.message,
        }),
      );
      await gone;
      clearTimeout(timer);
      return outcome ?? { status: 'error', message: 'The Worker ended.' };
    },
    close: async () => undefined,
  };
}

async function answer(
  worker: Worker,
  functions: HostFunctions,
  { id, name, args }: { id: number; name: string; args: never[] },
): Promise<void> {
  worker.postMessage({ id, value: await functions[name]?.(...args) });
}
