/** Runs one scenario of the guard around author code in a separate process; the test checks its output and its exit. */
import { exit as importedExit } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { type AuthorGuard, guardAuthorCode } from '../../src/author/guard/author-guard.ts';
import { type AuthorRun, runAuthorCode } from '../../src/author/guard/author-run.ts';

const run: AuthorRun = { code: 'tool', name: 'pay', threadId: 't1', work: 't1:1:0' };
const say = (text: unknown) => void process.stdout.write(`${String(text)}\n`);
const guardOf = (more: Partial<AuthorGuard> = {}): AuthorGuard => ({
  alone: true,
  stray: async ({ kind, run: { name }, thrown }) => {
    say(`stray ${kind} of ${name}: ${String(thrown)}`);
    return true;
  },
  unknown: (reason) => say(`unknown: ${String(reason)}`),
  ...more,
});
const attempt = (body: () => unknown) =>
  runAuthorCode(run, body).then(
    () => say('allowed'),
    (error: { code?: string }) => say(`refused: ${error.code}`),
  );

const SCENARIOS: Readonly<Record<string, () => Promise<void>>> = {
  async 'our own exit'() {
    guardAuthorCode(guardOf());
    await attempt(() => process.exit(3));
    process.exit(7);
  },
  async 'an unknown throw'() {
    guardAuthorCode(guardOf());
    setTimeout(() => {
      throw new Error('from nowhere');
    });
    await delay(60_000);
  },
  async 'an unknown rejection, alone'() {
    guardAuthorCode(guardOf());
    void Promise.reject(new Error('from nowhere'));
    await delay(1);
    say('lives');
  },
  async 'an unknown rejection, as a guest'() {
    guardAuthorCode(guardOf({ alone: false }));
    void Promise.reject(new Error('from nowhere'));
    await delay(60_000);
  },
  async 'an application that listens itself'() {
    process.on('unhandledRejection', (reason) => say(`the application: ${String(reason)}`));
    process.on('uncaughtException', (error) => say(`the application: ${String(error)}`));
    guardAuthorCode(guardOf());
    void Promise.reject(new Error('a rejection'));
    setTimeout(() => {
      throw new Error('a throw');
    });
    await delay(50);
    say('lives');
  },
  async 'a guard that does not know the thread'() {
    guardAuthorCode(guardOf({ stray: async () => false }));
    await runAuthorCode(run, () => void Promise.reject(new Error('a secret')));
    await delay(50);
    say('lives');
  },
  async 'two guards'() {
    const before = [process.exit, importedExit, process.listenerCount('unhandledRejection')];
    const ends = [guardAuthorCode(guardOf()), guardAuthorCode(guardOf())];
    say(process.listenerCount('unhandledRejection'));
    ends[0]?.();
    ends[0]?.();
    await attempt(() => importedExit(3));
    ends[1]?.();
    const after = [process.exit, importedExit, process.listenerCount('unhandledRejection')];
    say(after.every((each, index) => each === before[index]) ? 'as before' : 'not as before');
  },
  async 'a kept exit'() {
    const { exit } = process;
    guardAuthorCode(guardOf());
    await attempt(() => exit(3));
    process.nextTick(() => say('the next tick comes'));
    await delay(1);
  },
  async signals() {
    guardAuthorCode(guardOf());
    await attempt(() => process.kill(process.pid, 0));
    for (const pid of [process.pid, process.ppid, 0, -1]) await attempt(() => process.kill(pid, 'SIGKILL'));
    await attempt(() => process.kill(process.pid));
  },
  'an endpoint': endpointStrays,
};

async function endpointStrays(): Promise<void> {
  // Imported here only: the other scenarios do not need these modules, which take most of a second to load.
  const { defineThreadEndpoint, registryFrom } = await import('../../src/definitions/index.ts');
  const { RuntimeClient } = await import('../../src/index.ts');
  const { createEndpointHandler } = await import('../../src/server/index.ts');
  const { openStore } = await import('../../src/store/open-store.ts');
  const { openThread } = await import('../contract/thread-driver.ts');
  const store = await openStore('sqlite:store.db', process.env.EVERTHREAD_GUARD_FOLDER as string);
  const { id } = await openThread(store);
  const client = await RuntimeClient.connect({ store });
  const pay = defineThreadEndpoint(async () => {
    void Promise.reject(new Error('floating'));
    setTimeout(() => {
      throw new Error('late');
    });
    return process.exit(3);
  });
  const allTold = Promise.withResolvers<void>();
  let told = 0;
  const endpoints = await createEndpointHandler({
    client,
    registry: registryFrom({ endpoints: { 'pay.post': pay } }),
    onError: (error, where) => {
      say(
        `${(error as Error).message} ${JSON.stringify(where) === JSON.stringify({ threadId: id, endpoint: 'pay.post' })}`,
      );
      told += 1;
      if (told === 3) allTold.resolve();
    },
  });
  const answer = await endpoints.handle(
    new Request(`http://host.test/api/threads/${id}/pay`, { method: 'POST' }),
  );
  say(JSON.stringify(await answer.json()));
  await allTold.promise;
  say('lives');
  await endpoints.close();
  await client.close();
  await store.close();
}

await SCENARIOS[process.argv[2] ?? '']?.();
