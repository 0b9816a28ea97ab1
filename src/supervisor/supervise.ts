/**
 * Keeps a worker process running: starts it, configures it, forwards the request to stop, and restarts it after it ends
 * unexpectedly.
 * - The deaths so far are passed to each new process until one is ready: it stores them before it takes work.
 * - A process that refuses to start before any was ready is not restarted: its exit code becomes the command's.
 * - A request to stop lets the program finish its work. If this process ends, the program ends too, whatever the
 *   reason (program-process.ts).
 * - A slow start is reported, with what the process is doing (slow-start.ts).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Death, readDeath } from './death.ts';
import type { Unit } from './journal.ts';
import { type ProgramOptions, type ProgramProcess, startProgram } from './program-process.ts';
import type { FromWorker, ReportedDeath, ToWorker } from './protocol.ts';
import { SlowStart } from './slow-start.ts';
import { STALLED, type SupervisorWatch } from './watch.ts';

export interface Supervision<Order, Server, Ready> {
  readonly program: URL;
  readonly options?: ProgramOptions;
  readonly order: Order;
  /** Called when the first process has read its project; all later processes get the same answer. */
  readonly server: () => Promise<Server>;
  readonly stop: AbortSignal;
  /** Called each time a process is ready. */
  readonly ready: (ready: Ready, pid: number) => void;
  readonly tell: (told: SupervisorNews) => void;
  /** Is kept up to date with the phase of the process. */
  readonly watch?: SupervisorWatch;
}

export type SupervisorNews =
  | { readonly kind: 'slow'; readonly doing: string; readonly forMs: number }
  | { readonly kind: 'fell'; readonly pid: number; readonly how: string; readonly againInMs: number }
  | { readonly kind: 'culprit'; readonly culprit: Unit & { readonly stack?: string }; readonly how: string };

interface SupervisorState {
  everReady: boolean;
  deaths: ReportedDeath[];
  server?: Promise<unknown>;
}

/** Resolves to the exit code of the command: 0 after a request to stop. */
export async function supervise<Order, Server, Ready>(
  supervision: Supervision<Order, Server, Ready>,
): Promise<number> {
  const { stop, tell } = supervision;
  const life: SupervisorState = { everReady: false, deaths: [] };
  const backoff = new Backoff();
  for (;;) {
    const { death, pid, workedMs } = await runOnce(supervision, life);
    switch (death.kind) {
      case 'asked':
        return 0;
      case 'refused':
        return death.exitCode;
      case 'own':
        if (death.culprit || death.suspects.length > 0)
          life.deaths.push({ id: randomUUID(), culprit: death.culprit, suspects: death.suspects });
        if (death.culprit) tell({ kind: 'culprit', culprit: death.culprit, how: death.how });
    }
    const againInMs = backoff.next(workedMs);
    tell({ kind: 'fell', pid, how: death.how, againInMs });
    await delay(againInMs, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return 0;
  }
}

interface ProcessRun {
  readonly death: Death;
  readonly pid: number;
  readonly workedMs: number;
}

interface ProcessState {
  /** Set once the process is ready. */
  readyAt?: number;
  leaving: boolean;
  refusing: boolean;
  readonly start: SlowStart;
}

async function runOnce<Order, Server, Ready>(
  supervision: Supervision<Order, Server, Ready>,
  life: SupervisorState,
): Promise<ProcessRun> {
  const { program, options, order, stop, tell, watch } = supervision;
  const start = new SlowStart((doing, forMs) => tell({ kind: 'slow', doing, forMs }));
  const worker = startProgram<ToWorker<Order, Server>, FromWorker<Ready>>(program, options);
  const pid = worker.pid ?? -1;
  const state: ProcessState = { leaving: false, refusing: false, start };
  const failure = listen(supervision, life, worker, state);
  watch?.attach((question) => worker.send(question));
  const onStop = () => {
    if (watch) watch.phase = 'stopping';
    worker.send({ kind: 'stop' });
  };
  stop.addEventListener('abort', onStop);
  worker.send({ kind: 'order', order, deaths: life.deaths });
  if (stop.aborted) onStop();
  try {
    const end = await Promise.race([worker.ended, failure]);
    const { leaving, refusing } = state;
    const death = readDeath({ ...end, leaving, refusing, ready: life.everReady, asked: stop.aborted });
    watch?.detach('how' in death ? (end.stall ? STALLED : death.how) : undefined);
    return { death, pid, workedMs: state.readyAt === undefined ? 0 : performance.now() - state.readyAt };
  } finally {
    start.end();
    stop.removeEventListener('abort', onStop);
    worker.kill();
  }
}

/** Handles the messages of the worker. Rejects if no Temporal server is available; otherwise never settles. */
function listen<Order, Server, Ready>(
  { server, ready, watch }: Supervision<Order, Server, Ready>,
  life: SupervisorState,
  worker: ProgramProcess<ToWorker<Order, Server>, FromWorker<Ready>>,
  state: ProcessState,
): Promise<never> {
  return new Promise((_, reject) => {
    worker.onMessage = (message) => {
      if (message.kind === 'doing') {
        state.start.at(message.what);
        return;
      }
      if (message.kind === 'unmended') {
        state.start.pause();
        return;
      }
      if (message.kind === 'loaded') {
        state.start.at('finding its Temporal server');
        life.server ??= server();
        life.server.then((found) => worker.send({ kind: 'server', server: found as Server }), reject);
        return;
      }
      if (message.kind === 'answer') {
        watch?.receive(message);
        return;
      }
      if (message.kind === 'leaving' || message.kind === 'refusing') {
        state[message.kind] = true;
        if (watch && message.kind === 'leaving') watch.phase = 'stopping';
        return;
      }
      if (watch && !state.leaving) watch.phase = 'ready';
      state.start.end();
      state.readyAt = performance.now();
      life.everReady = true;
      life.deaths = [];
      ready(message.ready, worker.pid ?? -1);
    };
  });
}

const FIRST_MS = 200;
const MAX_PAUSE_MS = 30_000;
const HEALTHY_MS = 60_000;

/**
 * The pause before a worker process is restarted: doubles each time; resets once a process has worked for a minute.
 */
export class Backoff {
  #failures = 0;

  /** Returns the next pause in milliseconds. `workedMs`: time from ready to the end of the process; 0 if not ready. */
  next(workedMs: number): number {
    if (workedMs >= HEALTHY_MS) this.#failures = 0;
    const wait = Math.min(MAX_PAUSE_MS, FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
    return wait;
  }
}
