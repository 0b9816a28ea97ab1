/**
 * What a lone process does (cli/worker/lone-program.ts): opens what a worker opens, runs one activity as the worker
 * would, reports its outcome, and ends. It also ends when its worker has ended, and its watchdog kills it if it computes
 * endlessly.
 */
import { asyncLocalStorage, CancelledFailure, Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { type Logger, noopMetricMeter } from '@temporalio/common';
import type { ActivityDependencies } from '../activities/base/dependencies.ts';
import { type BegunEffectInput, runBegunEffect } from '../activities/effect/run-effects.ts';
import { createActivities } from '../activities/index.ts';
import { type Configuration, readConfiguration } from '../configuration.ts';
import { createSandbox } from '../sandbox/index.ts';
import { receiveSecrets } from '../secret-environment.ts';
import { openStore } from '../store/open-store.ts';
import type { EventListener } from '../store/transaction/event-record.ts';
import { openGuard } from './fault-log.ts';
import { type FromLone, type LoneOrder, type ToLone, toFailureData } from './lone-protocol.ts';
import { openProject } from './project.ts';
import { workUnderSupervision } from './under-supervision.ts';

const cancel = new AbortController();
const handover = new AbortController();

/** Opens the log of the process. */
type OpenLog = (configured: Configuration['log']) => {
  readonly logger: Omit<Logger, 'log'>;
  readonly listener: EventListener;
};

interface OpenLone {
  readonly dependencies: ActivityDependencies;
  readonly client: Client;
  close(): Promise<void>;
}

async function openLone(
  order: LoneOrder,
  configuration: Configuration,
  { logger, listener }: ReturnType<OpenLog>,
): Promise<OpenLone> {
  const { projectDir, connection: place, namespace, settings } = order;
  // A stray rejection does not end the process: it is reported, as in the worker.
  const guard = openGuard(() => logger);
  const project = await openProject({ projectDir });
  const store = await openStore(configuration.store, projectDir, {
    keys: configuration.encryptionKeys,
    familyCalls: configuration.familyCalls,
    requestDays: configuration.requestDays,
  });
  guard.know({ store, registry: project.current });
  store.events.listen(listener);
  const sandbox = createSandbox({ size: 1, spare: false, wall: configuration.sandboxWall });
  const connection = await Connection.connect(place);
  return {
    dependencies: {
      store,
      sandbox,
      registry: project.current,
      settings,
      stopWithinMs: configuration.stopWithinMs,
      refusesContent: configuration.signalledContent === 'refuse',
      leaving: handover.signal,
      handover: handover.signal,
      lone: true,
      report: guard.report,
    },
    client: new Client({ connection, namespace }),
    async close() {
      await sandbox.close();
      await store.close();
      await connection.close();
      guard.end();
    },
  };
}

function runActivity({ activity, input }: LoneOrder, dependencies: ActivityDependencies): Promise<unknown> {
  if (activity === 'runEffect') return runBegunEffect(dependencies, input as BegunEffectInput);
  const activities = createActivities(dependencies);
  return (activities[activity] as (input: unknown) => Promise<unknown>)(input);
}

/** The context of the worker's activity, without heartbeats: the worker sends those itself. */
function createContext({ info }: LoneOrder, client: Client, logger: Logger): Context {
  const { signal } = cancel;
  const cancelled = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  cancelled.catch(() => undefined);
  return new Context(info, cancelled, signal, () => undefined, client, logger, noopMetricMeter, {});
}

async function runOrder(order: LoneOrder, openLog: OpenLog): Promise<FromLone> {
  receiveSecrets(order.secrets);
  const configuration = readConfiguration();
  workUnderSupervision(configuration);
  const log = openLog(configuration.log);
  const lone = await openLone(order, configuration, log);
  const context = createContext(order, lone.client, log.logger as Logger);
  await sendToWorker({ kind: 'begun' });
  const answer = await asyncLocalStorage
    .run(context, () => runActivity(order, lone.dependencies))
    .then(
      (value): FromLone => ({ kind: 'done', value }),
      (error: unknown): FromLone => ({ kind: 'failed', failure: toFailureData(error) }),
    );
  await lone.close();
  return answer;
}

/** Sends a message to the worker. Resolves once it was sent, whether or not it is received. */
function sendToWorker(message: FromLone): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}

/** Waits for its order, and runs it. */
export function runLoneProgram(openLog: OpenLog): void {
  // Ctrl-C reaches every process of a terminal; the worker decides what to do.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit(1));
  process.on('message', async (message: ToLone) => {
    if (message.kind === 'cancel') cancel.abort(new CancelledFailure('CANCELLED'));
    else if (message.kind === 'hand_over') handover.abort();
    else {
      await sendToWorker(await runOrder(message.order, openLog));
      // Ends whatever the unit left running.
      process.exit(0);
    }
  });
}
