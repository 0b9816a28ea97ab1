/** `everthread dev`: everything that agents need on this machine, in one terminal. */
import { InvalidArgumentError } from 'commander';
import { readConfiguration } from '../../configuration.ts';
import { ensureKeyFile } from '../../store/crypto/key-file.ts';
import { makeProjectFolder } from '../../store/folder/project-folder.ts';
import type { ResolvedServer } from '../../temporal-service/dev-server.ts';
import { findFreePorts, isPortFree, LOOPBACK } from '../../temporal-service/free-port.ts';
import { type CommonOptions, command, HEALTH, option, parseCount, TASK_QUEUE } from '../command.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { showPath } from '../connection/find-store.ts';
import { withInterruption } from '../interruption.ts';
import { announce } from '../output/announce.ts';
import { banner } from '../output/dev-banner.ts';
import { note, printJsonLine, printLine } from '../output/output.ts';
import { superviseDev } from '../serve/dev-processes.ts';
import type { ReadyApi } from '../serve/supervised-api.ts';
import type { ReadyWorker } from '../worker/supervised-worker.ts';

export const dev = command({
  envFile: 'announced',
  description:
    'Runs the agents of the project: a worker, the HTTP API (docs/http.md) at port 7777 or a free one, and a Temporal server unless ' +
    'TEMPORAL_ADDRESS or a profile names one, or one runs at 127.0.0.1:7233 that belongs to no other project. Changes in agents/ are applied at once; if they have problems, the ' +
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
          ready: tell,
          again(which, worker, api) {
            if (json) tell(worker, api);
            else
              announce({
                text: which === 'api' ? `The API runs again, at ${api.url}.` : 'The worker runs again.',
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
  if (port > 65_535) throw new InvalidArgumentError('Give a port, at most 65535.');
  return port;
}

/** Returns a loopback address for the debugger: whoever reaches it can run code. */
async function inspectorAddress(asked: true | number | undefined): Promise<string | undefined> {
  if (asked === undefined) return undefined;
  if (asked !== true) return `${LOOPBACK}:${asked}`;
  const port = (await isPortFree(NODE_PORT)) ? NODE_PORT : (await findFreePorts(1))[0];
  return `${LOOPBACK}:${port}`;
}

const NODE_PORT = 9229;

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
