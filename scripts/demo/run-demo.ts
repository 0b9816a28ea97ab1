/** One performance, from an empty folder to the report. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { withFileLock } from '../../src/temporal-service/file-lock.ts';
import { performLibrary } from './library.ts';
import type { Options, Scenario } from './option.ts';
import { performRefund } from './refund.ts';
import { performResearch } from './research.ts';
import { Screen } from './screen.ts';
import { type House, openTheatre, type Theatre } from './theatre.ts';

const PROJECT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const FOLDER = resolve(process.env.EVERTHREAD_DEMO_FOLDER || join(PROJECT, '.everthread', 'demo'));
/** The folder may be one of the user's: other files in it are not touched. */
const MADE_BY_US =
  /^(?:store|temporal)\.db|^(?:published|refunds)\.md$|^(?:temporal|worker-\w)\.log$|^page-7\.js$|^(?:web|ui)\.png$/;

const SCENARIOS: Readonly<
  Record<Scenario, { readonly title: string; perform(theatre: Theatre): Promise<boolean> }>
> = {
  library: {
    title: 'A conversation, and three workers that carry it. Two of them will be killed.',
    perform: performLibrary,
  },
  research: {
    title:
      'A coordinator, a reviewer, and two researchers at work. The worker that carries them will be killed.',
    perform: performResearch,
  },
  refund: {
    title: 'A refund that a person must approve. The worker will be killed while it waits.',
    perform: performRefund,
  },
  web: {
    title: 'A page of useChat in a browser. The worker that answers it will be killed.',
    // Only this scenario loads a bundler and a browser.
    perform: async (theatre) => (await import('./web.ts')).performWeb(theatre),
  },
  ui: {
    title: 'The page at /ui, on a thread whose worker will be killed.',
    perform: async (theatre) => (await import('./ui.ts')).performUi(theatre),
  },
};

/**
 * Resolves to true if every promise was kept; with `keep`, only once the signal is aborted. Otherwise an abort makes it
 * reject.
 */
export async function runDemo(options: Options, signal: AbortSignal): Promise<boolean> {
  mkdirSync(FOLDER, { recursive: true });
  const refuse = () => {
    throw new Error(`another demo is running in ${FOLDER}: end that one first`);
  };
  return withFileLock(join(FOLDER, 'demo.lock'), refuse, async () => {
    for (const name of readdirSync(FOLDER)) if (MADE_BY_US.test(name)) rmSync(join(FOLDER, name));
    const screen = new Screen();
    const stack = new AsyncDisposableStack();
    const aborted = untilAborted(signal);
    try {
      const performed = perform({ options, screen, stack, signal, folder: FOLDER, projectDir: PROJECT });
      const kept = await Promise.race([performed, aborted.then(() => signal.throwIfAborted())]);
      if (options.keep) await aborted;
      return kept === true;
    } finally {
      screen.endStream();
      await stack.disposeAsync();
    }
  });
}

async function perform(house: House): Promise<boolean> {
  const { title, perform: play } = SCENARIOS[house.options.scenario];
  house.screen.plain(`${title}\n`);
  const theatre = await openTheatre(house);
  if (!theatre.temporal.isOwn) house.stack.defer(() => endWorkflows(theatre.client, theatre.threadId));
  return play(theatre);
}

/**
 * Terminates the workflows, which needs no worker, so that a user's service keeps none that no worker will ever serve.
 */
async function endWorkflows(client: RuntimeClient, root: string): Promise<void> {
  for (const { thread } of await client.getFamily(root).catch(() => [])) {
    const handle = client.temporal.workflow.getHandle(`thread/${thread.id}`);
    await handle.terminate('the demo is over').catch(() => undefined);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  return promise;
}
