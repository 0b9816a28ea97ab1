/**
 * Runs the two processes of `everthread dev` beside the command's own: the worker, and the HTTP API, which reads its
 * project once the worker is ready. Each is restarted separately when it crashes; if one cannot be started at all, both
 * end.
 */
import type { FoundServer } from '../connection/find-server.ts';
import type { Interruption } from '../interruption.ts';
import { type ReadyWorker, superviseWorker, type WorkerOrder } from '../worker/supervised-worker.ts';
import { type ReadyApi, superviseApi } from './supervised-api.ts';

export interface DevProcesses {
  readonly order: Pick<WorkerOrder, 'projectDir' | 'taskQueue' | 'json'>;
  readonly interruption: Interruption;
  readonly health?: string | undefined;
  readonly inspect?: string | undefined;
  readonly server: () => Promise<FoundServer>;
  /** Called when both are ready for the first time. */
  readonly ready: (worker: ReadyWorker, api: ReadyApi) => void;
  /** Called each later time that one is ready, with both as they are now. */
  readonly again: (which: 'worker' | 'api', worker: ReadyWorker, api: ReadyApi) => void;
}

/** Resolves to the exit code, after the first signal or when one could not be started. Rejects as `server` does. */
export async function superviseDev(dev: DevProcesses): Promise<number> {
  const { order, interruption, ready, health, inspect } = dev;
  const over = new AbortController();
  const working = Promise.withResolvers<FoundServer>();
  let server: Promise<FoundServer> | undefined;
  let worker: ReadyWorker | undefined;
  let api: ReadyApi | undefined;
  const exits = await Promise.allSettled([
    superviseWorker({
      order: { ...order, watch: true },
      interruption,
      health,
      inspect,
      server: () => {
        server = dev.server();
        return server;
      },
      ready(now) {
        worker = now;
        working.resolve(server as Promise<FoundServer>);
        if (api) dev.again('worker', now, api);
      },
    }).finally(() => over.abort()),
    superviseApi({
      order,
      stop: AbortSignal.any([interruption.signal, over.signal]),
      server: () => working.promise,
      ready(now) {
        const first = api === undefined;
        api = now;
        if (first) ready(worker as ReadyWorker, now);
        else dev.again('api', worker as ReadyWorker, now);
      },
    }).finally(() => interruption.stop()),
  ]);
  for (const exit of exits) if (exit.status === 'rejected') throw exit.reason;
  return exits.map((exit) => (exit as PromiseFulfilledResult<number>).value).find((code) => code !== 0) ?? 0;
}
