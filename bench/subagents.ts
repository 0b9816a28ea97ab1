/**
 * The cost of families: many children at once, four for which the parent waits, a chain of children that wait for one
 * another, messages between siblings.
 * `node_modules/.bin/node bench/subagents.ts [--json FILE] [--quick] [--only fan|research|chain|siblings]...`
 * Wall time from the parent's message until everything has arrived; events of all histories; memory of this process, in
 * which worker and client run. All parts are real except the model, which answers at once.
 */
import { scriptedModel } from '../src/testing/index.ts';
import { eventually } from '../test/support/eventually.ts';
import { fanOutRegistry, fanOutScript, LEVELS } from '../test/support/fan-out.ts';
import { type FamilyRig, openFamilyRig } from './support/family-rig.ts';
import { type Line, readOptions, report } from './support/report.ts';
import { quietRuntime } from './support/rig.ts';

const PATIENCE_MS = 300_000;
/** Each researcher's model takes half a second for its one answer. */
const RESEARCHERS = [
  ['seeker', 'one after another'],
  ['reader', 'side by side'],
] as const;

const { json, quick, only } = readOptions();
quietRuntime();
const model = scriptedModel(fanOutScript);
const rig = await openFamilyRig(fanOutRegistry(model));
const lines: Line[] = [];
try {
  for (const children of quick ? [10] : [10, 50]) {
    if (asked('fan'))
      lines.push(...(await measure(`${children} children at once`, () => fan(rig, children))));
  }
  for (const [name, how] of RESEARCHERS) {
    if (asked('research'))
      lines.push(...(await measure(`4 researchers ${how}`, () => work(rig, `${name} 4`))));
  }
  if (asked('chain'))
    lines.push(...(await measure(`a chain of ${LEVELS} that wait`, () => work(rig, 'deep'))));
  const messages = quick ? 100 : 1000;
  if (asked('siblings'))
    lines.push(
      ...(await measure(`${messages} messages between two siblings`, () => siblings(rig, messages))),
    );
} finally {
  await rig.close();
}
report('Subagents', lines, json);

function asked(part: string): boolean {
  return only.length === 0 || only.includes(part);
}

/** `work` resolves to the root of the family that it has created. */
async function measure(what: string, work: () => Promise<string>): Promise<Line[]> {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const startedAt = performance.now();
  const root = await work();
  const ms = performance.now() - startedAt;
  const { threads, events, bytes } = await rig.countHistory(root);
  const perThread = `${Math.round(events / threads)} a thread, ${Math.round(bytes / events)} B each`;
  const grown = (process.memoryUsage().rss - before) / 1e6;
  await rig.end(root);
  return [
    { what: `${what}: wall time`, value: ms / 1000, unit: 's' },
    { what: `${what}: events of ${threads} histories`, value: events, unit: 'events', note: perThread },
    { what: `${what}: memory`, value: Math.round(grown), unit: 'MB more' },
  ];
}

async function fan({ client, store, begin }: FamilyRig, children: number): Promise<string> {
  const thread = await begin('lead', `fan ${children}`);
  const heard = async () =>
    (await store.events.read(thread, 0, 1_000_000)).filter(({ type }) => type === 'subagent.returned').length;
  await eventually('all reports', async () => (await heard()) === children, PATIENCE_MS);
  await client.waitForIdle(thread, { timeoutMs: PATIENCE_MS });
  return thread;
}

/** Resolves once the lead, which waits for its children, is done. */
async function work({ client, begin }: FamilyRig, order: string): Promise<string> {
  const thread = await begin('lead', order);
  await client.waitForIdle(thread, { timeoutMs: PATIENCE_MS });
  return thread;
}

async function siblings({ client, store, begin }: FamilyRig, messages: number): Promise<string> {
  const thread = await begin('lead', 'peers 2');
  await client.waitForIdle(thread, { timeoutMs: PATIENCE_MS });
  const [one = '', two = ''] = (await store.children.list(thread)).map(({ threadId }) => threadId);
  await client.queueMessage(one, { content: `relay ${two} ${messages / 2}` });
  await client.queueMessage(two, { content: `relay ${one} ${messages / 2}` });
  for (const [to, from] of [
    [one, two],
    [two, one],
  ] as const) {
    const received = async () =>
      (await store.messages.list(to, { includeSilent: true, limit: 100_000 })).messages.filter(
        ({ content, status }) => status === 'completed' && content?.startsWith(`${from} `),
      ).length;
    await eventually('all messages', async () => (await received()) === messages / 2, PATIENCE_MS);
    await client.waitForIdle(to, { timeoutMs: PATIENCE_MS });
  }
  return thread;
}
