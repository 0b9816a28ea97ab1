/** Many threads, and a provider that takes few requests at a time: it costs time, and no thread. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineModel } from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { fails, says, scriptedModel } from '../../src/testing/index.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { fanOutRegistry, fanOutScript } from '../support/fan-out.ts';
import { startCluster } from '../support/fault-cluster.ts';
import { isLong } from '../support/long-form.ts';
import { type Narrowness, serveNarrowProvider } from '../support/narrow-provider.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';

/** Fewer than the calls of one answer that are run (LIMITS.callsRun). */
const CHILDREN = isLong ? 100 : 24;
const LEADS = isLong ? 2 : 1;
/** Threads of another provider, at work meanwhile. */
const OTHERS = isLong ? 20 : 4;
const PATIENCE_MS = isLong ? 900_000 : 180_000;

async function open(narrowness: Narrowness) {
  const provider = await serveNarrowProvider(narrowness);
  closeAfterTest(() => provider.close());
  const backend = openaiCompatible({ baseUrl: provider.url, apiKey: 'none' });
  const model = scriptedModel(fanOutScript);
  const mites = defineModel({ name: 'narrow', provider: backend, model: 'narrow-1' });
  const runtime = await testRuntime({ model, registry: fanOutRegistry(model, mites) });
  const leads: string[] = [];
  for (let lead = 0; lead < LEADS; lead++) {
    const messages = [{ content: `fan ${CHILDREN}` }];
    leads.push((await runtime.client.startThread({ agent: 'lead', messages })).threadId);
  }
  return { ...runtime, provider, leads };
}

describe('a thread that waits to retry its model', () => {
  it('repeats the request after the wait, also if its worker was killed meanwhile', async () => {
    const slow = fails({ status: 429, message: 'slow down', retryAfter: 6 });
    let refusals = 0;
    // On a busy machine a wait may be over before it is seen: then there is another one.
    let isSeen = false;
    const script = () => {
      if (isSeen) return says('Here I am.');
      refusals += 1;
      return slow;
    };
    const cluster = await startCluster({ script });
    closeAfterTest(() => cluster.close());
    await cluster.keep(1);
    const thread = await cluster.begin('go');
    await eventually(
      'the wait',
      async () => eventsOf(await cluster.store.events.read(thread, 0, 1000), 'model.held').length > 0,
    );
    await eventually('it is shown', async () => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(import.meta.dirname, '../../bin/everthread.js'), 'threads', 'show', thread],
        {
          cwd: cluster.folder,
          env: { ...process.env, EVERTHREAD_STORE: 'sqlite:store.db?synchronous=normal' },
        },
      );
      return /status +running: waiting for the model \w+/.test(stdout);
    });
    isSeen = true;
    await cluster.workers[0]?.end('SIGKILL');
    await cluster.keep(1);
    await cluster.client.waitForIdle(thread);
    expect(await cluster.transcript(thread)).toEqual(['user: go', 'assistant: Here I am.']);
    expect(cluster.model.requests).toHaveLength(refusals + 1);
  });
});

describe('a provider limited to ten requests at a time', () => {
  it.each<[string, Narrowness]>([
    ['without saying when to come back', { atOnce: 10, busyMs: 2000 }],
    ['and asks for six seconds', { atOnce: 10, busyMs: 2000, headers: { 'retry-after': '6' } }],
  ])('loses none of many children, %s, and does not delay other threads', async (_title, narrowness) => {
    const { client, store, provider, leads, say, transcript } = await open(narrowness);
    const children = async () => (await Promise.all(leads.map((lead) => store.children.list(lead)))).flat();
    const all = LEADS * CHILDREN;
    const ended = async () => {
      const list = await children();
      return list.length === all && list.every(({ status: now }) => now === 'idle' || now === 'failed');
    };
    await eventually('the children', async () => (await children()).length === all, PATIENCE_MS);
    if (narrowness.headers)
      await eventually('a child that waits for its model', async () => {
        const waits = async ({ threadId }: { threadId: string }) =>
          (await askStatus(client.temporal.workflow.getHandle(`thread/${threadId}`))).activity ===
          'waiting for the model narrow';
        for (const child of await children()) if (await waits(child)) return true;
        return ended();
      });
    // They work while the children wait: none of these holds a slot of the worker.
    for (let other = 0; other < OTHERS; other++) {
      const { threadId } = await client.startThread({ agent: 'lead', messages: [{ content: 'hello' }] });
      await client.waitForIdle(threadId);
      await say(threadId, 'once more');
      expect((await transcript(threadId)).at(-1)).toBe('assistant: Heard.');
    }
    await eventually('all children to end', ended, PATIENCE_MS);
    const list = await children();
    expect(list.filter(({ status: now }) => now !== 'idle')).toEqual([]);
    const logs = await Promise.all(list.map(({ threadId }) => store.events.read(threadId, 0, 10_000)));
    expect(logs.filter((log) => eventsOf(log, 'step.committed').length !== 1)).toEqual([]);
    if (narrowness.headers)
      expect(logs.flatMap((log) => eventsOf(log, 'model.held')).length).toBeGreaterThan(0);
    // A wait is no fault.
    expect(logs.flatMap((log) => eventsOf(log, 'step.failed'))).toEqual([]);
    const refused = provider.requests.filter((request) => request.refused).length;
    expect(refused).toBeLessThan(all + 20);
  });
});
