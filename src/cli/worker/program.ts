/**
 * A program of ours under supervision (supervisor/supervise.ts), in a process of its own: it is told its order and its server, says
 * how far it is, and ends when it is asked to.
 * W1. A signal asks it to stop, as the supervisor's message does, any number of times: Ctrl-C reaches both processes, and so does
 *     a signal to the whole group. Only the supervisor ends it at once.
 * W2. It ends when the supervisor is gone.
 */
import { receiveSecrets, type Secrets } from '../../secret-environment.ts';
import type { Asked, FromWorker, ToldDeath, ToWorker } from '../../supervisor/index.ts';
import { keepCompiled } from '../compile-cache.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { reportFailure } from '../exit.ts';

/** Codes that a restart cannot fix. An unreachable server or database returns, and definitions get corrected. */
const FINAL: readonly string[] = ['InvalidConfiguration', 'StoreMismatch', 'StoreLost', 'StoreCorrupt'];

const LEFT_BEHIND_MS = 2_000;

export interface Told<Order> {
  readonly order: Order;
  readonly deaths: readonly ToldDeath[];
  readonly server: Promise<FoundServer>;
  readonly stop: AbortSignal;
  /** Says who answers what the supervisor asks. */
  readonly answerWith: (answer: (what: Asked) => Promise<unknown>) => void;
}

/** To the supervisor. */
export function tell<Ready>(message: FromWorker<Ready>): void {
  process.send?.(message, () => undefined);
}

/** Serves until the stop, then ends the process. */
export async function runProgram<Order extends { readonly secrets: Secrets }>(
  serve: (told: Told<Order>) => Promise<void>,
): Promise<void> {
  // W2: the channel closed.
  const onOrphaned = () => process.exit(1);
  process.on('disconnect', onOrphaned);
  // A closed output pipe is handled by the supervisor: work continues.
  process.stdout.on('error', () => undefined);
  keepCompiled();
  const told = await listen<Order>();
  receiveSecrets(told.order.secrets);
  try {
    await serve(told);
  } catch (error) {
    if (FINAL.includes((error as { code?: string }).code ?? '')) tell({ kind: 'refusing' });
    process.exitCode = reportFailure(error);
  }
  process.off('disconnect', onOrphaned);
  process.disconnect();
  // A timer left behind by code of an author must not keep the process alive.
  setTimeout(() => process.exit(), LEFT_BEHIND_MS).unref();
}

/** Resolves with the order; later changes are part of it. */
function listen<Order>(): Promise<Told<Order>> {
  const stop = new AbortController();
  const server = Promise.withResolvers<FoundServer>();
  let answer: ((what: Asked) => Promise<unknown>) | undefined;
  const answerWith: Told<Order>['answerWith'] = (given) => {
    answer = given;
  };
  // W1: a signal is a request to stop.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      tell({ kind: 'leaving' });
      stop.abort();
    });
  return new Promise((resolve) => {
    process.on('message', (message: ToWorker<Order, FoundServer>) => {
      if (message.kind === 'stop') stop.abort();
      else if (message.kind === 'ask') {
        const { id, what } = message;
        // What fails is not answered: whoever asks does not wait for ever.
        answer?.(what).then(
          (value) => tell({ kind: 'answer', id, value }),
          () => undefined,
        );
      } else if (message.kind === 'server') server.resolve(message.server);
      else {
        const { order, deaths } = message;
        resolve({ order, deaths, server: server.promise, stop: stop.signal, answerWith });
      }
    });
  });
}
