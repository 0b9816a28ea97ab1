/** `everthread dev`: everything that agents need on this machine, in one terminal. */

import { InvalidArgumentError } from 'commander';
import { readConfiguration } from '../../configuration.ts';
import { ensureKeyFile } from '../../store/crypto/key-file.ts';
import { makeProjectFolder } from '../../store/folder/project-folder.ts';
import type { ResolvedServer } from '../../temporal-service/dev-server.ts';
import { findFreePorts, isPortFree, LOOPBACK } from '../../temporal-service/free-port.ts';
import { type CommonOptions, command, HEALTH, option, parseCount, TASK_QUEUE } from '../command.ts';
import { commandName } from '../command-name.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { showPath, showStore } from '../connection/find-store.ts';
import { type Interruption, withInterruption } from '../interruption.ts';
import { announce } from '../output/logger.ts';
import { note, printJsonLine, printLine, tone } from '../output/output.ts';
import { requireFree } from '../serve/listen-address.ts';
import { type ReadyApi, superviseApi } from '../serve/supervised-api.ts';
import { type ReadyWorker, superviseWorker, type WorkerOrder } from '../worker/supervised-worker.ts';

export const dev = command({
  envFile: 'announced',
  description:
    'Runs the agents of the project: a worker, the HTTP API (docs/http.md) at port 7777 or a free one, and a Temporal server unless ' +
    'TEMPORAL_ADDRESS or a profile names one, or one runs at 127.0.0.1:7233 that belongs to no other project. Changes in agents/, and in files elsewhere that it imports, are applied at once; if they have problems, the ' +
    'previous definitions stay in use, and at the start it waits until they are fixed. Ctrl-C stops everything that was started; threads are kept.',
  options: {
    // True means Node's usual port, or a free one.
    inspect: option<true | number>(
      '[port]',
      'let a debugger on this machine attach to the worker (default: port 9229 or a free one); a worker paused by it is not considered lost',
      parsePort,
    ),
    ...TASK_QUEUE,
    ...HEALTH,
  },
  async run(options) {
    const { project: projectDir, taskQueue, health, json = false } = options;
    // Checked first, before anything slow.
    const { devPort } = readConfiguration();
    const inspect = await inspectorAddress(options.inspect);
    return withInterruption(async (interruption) => {
      let found: ResolvedServer | undefined;
      const server = async (): Promise<FoundServer> => {
        makeProjectFolder(projectDir, note);
        makeKey(projectDir);
        const { resolveServer } = await import('../../temporal-service/dev-server.ts');
        const { findServer } = await import('../connection/find-server.ts');
        const ports = { port: devPort, uiPort: devPort + 1000 };
        found = await resolveServer({ projectDir, progress: note, ...ports });
        interruption.onForce(() => killServer(found));
        found.lost?.addEventListener('abort', interruption.stop);
        const { address, namespace, uiUrl } = found;
        const { connection } = findServer(projectDir);
        return { address, namespace, uiUrl, connection: { ...connection, address } };
      };
      const tell = (worker: ReadyWorker, api: ReadyApi) =>
        printReady({ ...options, inspector: inspect }, found as ResolvedServer, worker, api);
      try {
        const exitCode = await superviseDev({
          order: { projectDir, taskQueue, json },
          interruption,
          health,
          inspect,
          server,
          ready(worker, api, again) {
            if (json || again === undefined) tell(worker, api);
            else
              announce({
                text: again === 'api' ? `The API runs again, at ${api.url}.` : 'The worker runs again.',
              });
          },
        });
        found?.lost?.throwIfAborted();
        if (exitCode !== 0) return exitCode;
      } finally {
        await found?.started?.stop();
      }
      announce({ text: 'Stopped.' });
      return 0;
    });
  },
});

function parsePort(text: string): number {
  const port = parseCount(text);
  // Node's own limits for a debugger.
  if (port < 1024 || port > 65_535) throw new InvalidArgumentError('Give a port, 1024 to 65535.');
  return port;
}

/** Returns a loopback address for the debugger: whoever reaches it can run code. */
async function inspectorAddress(asked: true | number | undefined): Promise<string | undefined> {
  if (asked === undefined) return undefined;
  if (asked !== true) {
    await requireFree({ host: LOOPBACK, port: asked }, INSPECTOR);
    return `${LOOPBACK}:${asked}`;
  }
  const port = (await isPortFree(NODE_PORT)) ? NODE_PORT : (await findFreePorts(1))[0];
  return `${LOOPBACK}:${port}`;
}

const NODE_PORT = 9229;
const INSPECTOR = { what: 'the debugger', setting: '--inspect, or none for a free one' };

/** Creates a key for the project if none is configured, because variables are encrypted. */
function makeKey(projectDir: string): void {
  if (readConfiguration().encryptionKeys) return;
  const path = ensureKeyFile(projectDir);
  if (path) note(`Created ${showPath(path)}, the key that encrypts variables: without it they are lost.`);
}

function printReady(
  { project: projectDir, json, inspector }: CommonOptions & { readonly inspector: string | undefined },
  server: ResolvedServer,
  { storeId, taskQueue, agents, health }: ReadyWorker,
  { url, asksForTokens }: ReadyApi,
): void {
  const { address, namespace, uiUrl } = server;
  const shown = { taskQueue, storeId, agents, health, inspector };
  if (json) printJsonLine({ event: 'ready', address, namespace, uiUrl, ...shown, api: url });
  else printLine(banner({ ...shown, server, projectDir, api: { url, asksForTokens } }));
}

/** Does not wait: the process ends now, and a guardian process stops its children. */
function killServer(server: ResolvedServer | undefined): void {
  void server?.started?.kill();
  void server?.started?.stop();
}

/** What `everthread dev` prints when everything runs: addresses, and the next commands. */
interface Banner {
  readonly server: ResolvedServer;
  readonly taskQueue: string;
  readonly storeId: string;
  readonly agents: readonly string[];
  readonly projectDir: string;
  readonly health?: string | undefined;
  /** Address on which the debugger of the worker listens. */
  readonly inspector?: string | undefined;
  readonly api: { readonly url: string; readonly asksForTokens: boolean };
}

const SOURCES: Record<ResolvedServer['source'], string> = {
  configured: 'as configured',
  project: 'started by another "everthread dev" of this project',
  found: 'already running',
  started: 'started by this command',
};

/** Returns links to the Web UI. Its columns are kept in the browser; the query in the address selects what it lists. */
function webUi({ uiUrl, namespace }: ResolvedServer): string[][] {
  if (uiUrl === undefined) return [];
  const query = encodeURIComponent('ThreadStatus="failed"');
  const list = `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return [
    ['Web UI', list],
    ['', `${list}?query=${query} (threads that failed)`],
  ];
}

function banner({ server, taskQueue, storeId, agents, projectDir, health, inspector, api }: Banner): string {
  const { store, taskQueue: usualQueue, publicUrl } = readConfiguration();
  const rows = [
    ['Page', `${api.url}/ui`],
    ['Temporal', `${server.address}, namespace ${server.namespace} (${SOURCES[server.source]})`],
    ...webUi(server),
    ['HTTP API', `${api.url} (${api.asksForTokens ? 'with a token' : 'this machine only, no tokens'})`],
    ...(publicUrl === undefined ? [] : [['', `${publicUrl} (from outside, by EVERTHREAD_PUBLIC_URL)`]]),
    ...(health === undefined ? [] : [['Metrics', `${health}/metrics, health at /readyz`]]),
    ...(inspector === undefined
      ? []
      : [['Inspector', `${inspector}, of the worker: attach an editor, or chrome://inspect`]]),
    ['Task queue', taskQueue],
    ['Store', `${showStore(store, projectDir)} (${storeId})`],
    ['Agents', agents.join(', ') || 'none: put one into agents/agents/'],
  ];
  const lines = rows.map(([name = '', value = '']) => `  ${tone('dim', name.padEnd(12))}${value}`);
  const options = [
    ...(projectDir === process.cwd() ? [] : [`--project ${showPath(projectDir)}`]),
    ...(taskQueue === usualQueue ? [] : [`--task-queue ${taskQueue}`]),
  ];
  const type = (words: string) => `  ${[commandName(), words, ...options].join(' ')}`;
  const [agent = 'AGENT'] = agents;
  return [
    '',
    tone('bold', 'Everthread runs. Ctrl-C stops it.'),
    '',
    ...lines,
    '',
    'Next, in another terminal:',
    type(`chat ${agent}`),
    type(`threads start ${agent} "Hello" --wait`),
    '',
  ].join('\n');
}

/**
 * Runs the two processes of `everthread dev` beside the command's own: the worker, and the HTTP API, which reads its
 * project once the worker is ready. Each is restarted separately when it crashes; if one cannot be started at all, both
 * end.
 */
interface DevProcesses {
  readonly order: Pick<WorkerOrder, 'projectDir' | 'taskQueue' | 'json'>;
  readonly interruption: Interruption;
  readonly health?: string | undefined;
  readonly inspect?: string | undefined;
  readonly server: () => Promise<FoundServer>;
  /** Called when both are ready for the first time, and each later time that one is ready `again`. */
  readonly ready: (worker: ReadyWorker, api: ReadyApi, again?: 'worker' | 'api') => void;
}

/** Resolves to the exit code, after the first signal or when one could not be started. Rejects as `server` does. */
async function superviseDev(dev: DevProcesses): Promise<number> {
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
        if (api) ready(now, api, 'worker');
      },
    }).finally(() => over.abort()),
    superviseApi({
      order,
      stop: AbortSignal.any([interruption.signal, over.signal]),
      server: () => working.promise,
      ready(now) {
        const again = api && 'api';
        api = now;
        ready(worker as ReadyWorker, now, again);
      },
    }).finally(() => interruption.stop()),
  ]);
  for (const exit of exits) if (exit.status === 'rejected') throw exit.reason;
  return exits.map((exit) => (exit as PromiseFulfilledResult<number>).value).find((code) => code !== 0) ?? 0;
}
