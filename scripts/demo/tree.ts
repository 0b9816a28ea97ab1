/** Prints the family at the end: as a tree, and where to see it. */
import { join, relative } from 'node:path';
import { treeLines } from '../../src/cli/commands/thread-list.ts';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { FamilyLog } from './family-log.ts';
import type { Screen } from './screen.ts';
import type { Theatre } from './theatre.ts';

export async function printFamily(screen: Screen, client: RuntimeClient, threadId: string): Promise<void> {
  screen.heading('The family, as everthread threads tree shows it');
  for (const line of treeLines(await client.getFamily(threadId))) screen.plain(`  ${line}`);
}

export async function printFamilyPlaces(theatre: Theatre, family: FamilyLog): Promise<void> {
  const { screen, client, temporal, taskQueue, options } = theatre;
  const folder = relative(process.cwd(), theatre.folder) || '.';
  screen.heading('Where to look');
  const histories = await Promise.all(
    family.relatives.map(({ threadId }) =>
      client.temporal.workflow.getHandle(`thread/${threadId}`).describe(),
    ),
  );
  const events = histories.reduce((sum, { historyLength }) => sum + historyLength, 0);
  const rows = [
    [
      join(folder, 'store.db'),
      `the conversations; Temporal keeps ${events} events of ${histories.length} workflows, without the answers`,
    ],
    ['agents/agents', 'coordinator.ts and researcher.ts: sides, stop rules, who may be sent'],
  ] as const;
  for (const [path, what] of rows) screen.plain(`  ${path.padEnd(34)}${what}`);
  if (!options.keep) {
    screen.plain(
      `  ${'npm run demo -- research --keep'.padEnd(34)}leaves it running, with the relationship in the Web UI`,
    );
    return;
  }
  const workflow = encodeURIComponent(`thread/${family.root.threadId}`);
  const page = `/namespaces/${temporal.namespace}/workflows/${workflow}/${histories[0]?.runId}/relationships`;
  screen.plain(`  ${temporal.uiUrl ?? '(your Web UI)'}${page}`);
  screen.heading('It goes on until Ctrl-C. In another terminal:');
  screen.plain(`  export TEMPORAL_ADDRESS=${temporal.address} EVERTHREAD_TASK_QUEUE=${taskQueue}`);
  screen.plain(`  node scripts/run.mjs examples/client/status.ts ${family.root.threadId}`);
}
