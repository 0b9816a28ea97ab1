/**
 * A program under supervision (supervisor/supervise.ts), in its own process: it receives its order and its server,
 * reports its progress, and ends on request.
 * - Every signal is a request to stop, like the supervisor's message: Ctrl-C and a signal to the whole group reach
 *   both processes. Only the supervisor ends it at once.
 * - The process ends when its supervisor is gone.
 */
import { receiveSecrets, type Secrets } from '../../secret-environment.ts';
import type { Asked, FromWorker, ReportedDeath, ToWorker } from '../../supervisor/index.ts';
import { enableCodeCache } from '../compile-cache.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { reportFailure } from '../exit.ts';

/** Error codes that a restart cannot fix. An unreachable server or database returns, and definitions get corrected. */
const PERMANENT_CODES: readonly string[] = [
  'InvalidConfiguration',
  'StoreMismatch',
  'StoreLost',
  'StoreCorrupt',
];

const EXIT_GRACE_MS = 2_000;

export interface ProgramContext<Order> {
  readonly order: Order;
  readonly deaths: readonly ReportedDeath[];
  readonly server: Promise<FoundServer>;
  readonly stop: AbortSignal;
  /** Sets the function that answers the supervisor's queries. */
  readonly answerWith: (answer: (what: Asked) => Promise<unknown>) => void;
}

/** Sends a message to the supervisor. */
export function sendToSupervisor<Ready>(message: FromWorker<Ready>): void {
  process.send?.(message, () => undefined);
}

/** Serves until the stop, then ends the process. */
export async function runProgram<Order extends { readonly secrets: Secrets }>(
  serve: (context: ProgramContext<Order>) => Promise<void>,
): Promise<void> {
  const onOrphaned = () => process.exit(1);
  process.on('disconnect', onOrphaned);
  // A closed output pipe is handled by the supervisor: work continues.
  process.stdout.on('error', () => undefined);
  enableCodeCache();
  const context = await listen<Order>();
  receiveSecrets(context.order.secrets);
  try {
    await serve(context);
  } catch (error) {
    if (PERMANENT_CODES.includes((error as { code?: string }).code ?? ''))
      sendToSupervisor({ kind: 'refusing' });
    process.exitCode = reportFailure(error);
  }
  process.off('disconnect', onOrphaned);
  process.disconnect();
  // A timer left behind by code of an author must not keep the process alive.
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
}

/** Resolves with the order; its `server` and `stop` follow later messages. */
function listen<Order>(): Promise<ProgramContext<Order>> {
  const stop = new AbortController();
  const server = Promise.withResolvers<FoundServer>();
  let answer: ((what: Asked) => Promise<unknown>) | undefined;
  const answerWith: ProgramContext<Order>['answerWith'] = (given) => {
    answer = given;
  };
  // A signal is a request to stop.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      sendToSupervisor({ kind: 'leaving' });
      stop.abort();
    });
  return new Promise((resolve) => {
    process.on('message', (message: ToWorker<Order, FoundServer>) => {
      if (message.kind === 'stop') stop.abort();
      else if (message.kind === 'ask') {
        const { id, what } = message;
        // A failed query is not answered: the supervisor limits how long it waits.
        answer?.(what).then(
          (value) => sendToSupervisor({ kind: 'answer', id, value }),
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
