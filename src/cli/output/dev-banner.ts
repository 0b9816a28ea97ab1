/** What `everthread dev` prints when everything runs: addresses, and the next commands. */
import { readConfiguration } from '../../configuration.ts';
import type { ResolvedServer } from '../../temporal-service/dev-server.ts';
import { commandName } from '../command-name.ts';
import { showPath, showStore } from '../connection/find-store.ts';
import { tone } from './output.ts';

export interface Banner {
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

export function banner({
  server,
  taskQueue,
  storeId,
  agents,
  projectDir,
  health,
  inspector,
  api,
}: Banner): string {
  const { store, taskQueue: usualQueue, publicUrl } = readConfiguration();
  const rows = [
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
