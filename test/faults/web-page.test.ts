/**
 * Pages of `useChat` in a browser, each with the published packages of one version of `ai`, against the HTTP API, whose
 * worker is killed while it answers all of them. Skipped if this machine has no browser (`EVERTHREAD_BROWSER`).
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import {
  fill,
  findBrowser,
  look,
  openBrowser,
  openPage,
  press,
  type Shown,
  say,
} from '../../scripts/web/browser.ts';
import { bundlePage } from '../../scripts/web/bundle-page.ts';
import { withPage } from '../../scripts/web/serve-page.ts';
import { type ServedApi, serveApi } from '../../src/cli/serve/serve-api.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { hangs, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { faultScript } from '../support/fault-project.ts';

const VERSIONS = ['5', '6', '7'] as const;
type Version = (typeof VERSIONS)[number];

const program = findBrowser();
const inBrowser = program ? describe : describe.skip;

inBrowser('a page of useChat', () => {
  let killed = false;
  let browser: Browser;
  let cluster: Cluster;
  let served: ServedApi;
  const chats = new Map<Version, { readonly page: Page; readonly threadId: string }>();
  const chatOf = (version: Version) => chats.get(version) as { page: Page; threadId: string };

  beforeAll(async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const answer = faultScript();
    cluster = await startCluster({
      script: (request, index) => {
        const last = request.messages.at(-1);
        if (last?.content === 'hang') return hangs({ after: 'For ever and' });
        if (last?.content !== 'tell') return answer(request, index);
        return killed ? says('Once upon a time.') : hangs({ after: 'Once upon' });
      },
    });
    await Promise.all([cluster.keep(1), bundlePage(folder)]);
    served = await serveApi(withPage(createApi({ client: cluster.client }), folder), {
      host: '127.0.0.1',
      port: 0,
    });
    browser = await openBrowser(program as string);
    for (const version of VERSIONS) {
      const threadId = randomUUID();
      const page = await openPage(browser, `${served.url}/page?id=${threadId}&agent=clerk&ui=${version}`);
      chats.set(version, { page, threadId });
    }
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    await served?.close();
    await cluster?.close();
  });

  async function until(version: Version, what: string, isSo: (shown: Shown) => boolean): Promise<Shown> {
    let shown: Shown | undefined;
    return eventually(`ai ${version}: ${what}`, async () => {
      shown = await look(chatOf(version).page);
      return isSo(shown) && shown;
    }).catch((error) => {
      throw new Error(`${error.message}; it shows ${JSON.stringify(shown)}`);
    });
  }
  const lastOf = ({ messages }: Shown) => messages.at(-1);
  const isReady = ({ status }: Shown) => status === 'ready';
  const hasText = (text: string) => (shown: Shown) =>
    lastOf(shown)?.role === 'assistant' && lastOf(shown)?.texts.join('|') === text;

  it('shows an answer as it streams, restores it after a reload, and continues when the worker is killed', async () => {
    for (const version of VERSIONS) {
      const { page } = chatOf(version);
      await until(version, 'at rest', isReady);
      await say(page, 'tell');
    }
    for (const version of VERSIONS) {
      await until(version, 'streams', hasText('Once upon'));
      await chatOf(version).page.reload();
    }
    for (const version of VERSIONS) await until(version, 'resumed', hasText('Once upon'));
    const [worker] = cluster.workers;
    await worker?.end('SIGKILL');
    killed = true;
    await cluster.keep(1);
    for (const version of VERSIONS) {
      const shown = await until(version, 'told to its end', isReady);
      expect(shown).toMatchObject({
        error: null,
        messages: [
          { role: 'user', texts: ['tell'] },
          { role: 'assistant', texts: ['Once upon a time.'] },
        ],
      });
      const { threadId } = chatOf(version);
      expect(await cluster.transcript(threadId)).toEqual(['user: tell', 'assistant: Once upon a time.']);
    }
  }, 300_000);

  it('stops a running answer, and gets the next one', async () => {
    for (const version of VERSIONS) await say(chatOf(version).page, 'hang');
    for (const version of VERSIONS) {
      const { page, threadId } = chatOf(version);
      await until(version, 'streams', hasText('For ever and'));
      await press(page, '[data-stop]');
      expect(await until(version, 'stopped', isReady)).toMatchObject({ error: null });
      expect((await cluster.client.waitForIdle(threadId)).status).toBe('stopped');
      await say(page, 'hello');
      await until(version, 'answered', hasText('Answered "hello" after 0 tool results.'));
      await until(version, 'at rest', isReady);
    }
  }, 300_000);

  it('regenerates and edits after a reload, while no worker runs, and in two tabs at once', async () => {
    const answered = (text: string) => `Answered "${text}" after 0 tool results.`;
    for (const version of VERSIONS) {
      await say(chatOf(version).page, 'first');
      await until(version, 'answered', hasText(answered('first')));
      await until(version, 'at rest', isReady);
      await chatOf(version).page.reload();
      await until(version, 'restored', hasText(answered('first')));
    }
    const before = await Promise.all(VERSIONS.map((version) => cluster.transcript(chatOf(version).threadId)));
    for (const worker of cluster.workers) await worker.end('SIGKILL');
    for (const version of VERSIONS) await press(chatOf(version).page, '[data-regenerate]');
    for (const version of VERSIONS)
      await eventually(`ai ${version}: superseded`, async () => {
        const gone = await cluster.client.getMessages(chatOf(version).threadId, { superseded: true });
        return gone.total === 1;
      });
    await cluster.keep(1);
    for (const [n, version] of VERSIONS.entries()) {
      await until(version, 'regenerated', (now) => isReady(now) && hasText(answered('first'))(now));
      // One answer in place of the other.
      expect(await cluster.transcript(chatOf(version).threadId)).toEqual(before[n]);
      const { page, threadId } = chatOf(version);
      await page.reload();
      await until(version, 'restored', hasText(answered('first')));
      await fill(page, 'second');
      await press(page, '[data-edit]');
      await until(version, 'edited', (now) => isReady(now) && hasText(answered('second'))(now));
      const edited = [...(before[n] ?? []).slice(0, -2), 'user: second', `assistant: ${answered('second')}`];
      expect(await cluster.transcript(threadId)).toEqual(edited);
      const other = await openPage(browser, `${served.url}/page?id=${threadId}&agent=clerk&ui=${version}`);
      await eventually('the other tab', async () => hasText(answered('second'))(await look(other)));
      await Promise.all([page, other].map((tab) => press(tab, '[data-regenerate]')));
      for (const tab of [page, other])
        await eventually('a tab at rest', async () =>
          ['ready', 'error'].includes(`${(await look(tab)).status}`),
        );
      await cluster.client.waitForIdle(threadId);
      expect(await cluster.transcript(threadId)).toEqual(edited);
      await other.close();
      await page.reload();
      await until(version, 'one answer', (now) => isReady(now) && hasText(answered('second'))(now));
    }
  }, 300_000);

  it('asks a person for an approval, and continues after the decision', async () => {
    for (const version of VERSIONS) {
      const { page, threadId } = chatOf(version);
      for (const [button, outcome] of [
        ['[data-approve]', /^output-available: refund wrote/],
        ['[data-deny]', /^output-(denied|error): refund/],
      ] as const) {
        await say(page, 'use refund 1');
        await until(version, 'asked', ({ status, asks }) => asks && status === 'ready');
        await press(page, button);
        const answered = 'Answered "use refund 1" after 1 tool results.';
        const shown = await until(version, 'answered', (now) => isReady(now) && hasText(answered)(now));
        expect(shown).toMatchObject({ error: null, asks: false });
        expect(shown.tools.at(-1)).toMatch(outcome);
      }
      expect(cluster.ledger(threadId)).toHaveLength(1);
      const before = await look(page);
      await page.reload();
      const isWhole = (now: Shown) => isReady(now) && now.messages.length === before.messages.length;
      expect(await until(version, 'opened again', isWhole)).toEqual(before);
    }
  }, 300_000);
});
