/** `everthread threads …` and `chat`, against one worker. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import '../once/replays.ts';
import { eventually } from '../support/eventually.ts';
import { type CliProject, cliProject, HELPER, type Result, seen } from './support.ts';

let project: CliProject;

beforeAll(async () => {
  project = await cliProject(HELPER);
  await seen(project.start(['worker', '--json']), '"event":"ready"');
});
afterAll(() => project.remove());

const run = (...args: string[]) => project.run(args);

async function startThread(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('threads', 'start', 'helper', ...args);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

async function show(
  id: string,
): Promise<{ thread: Record<string, unknown>; messages: Record<string, unknown>[] }> {
  return JSON.parse((await run('threads', 'show', id, '--json')).stdout);
}

/** Repeats a command until `what` accepts its result: stop and terminate are only requests. */
async function until(what: (result: Result) => boolean, ...args: string[]): Promise<Result> {
  return eventually(`as wished: ${args.join(' ')}`, async () => {
    const result = await run(...args);
    return what(result) && result;
  });
}

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('everthread threads', () => {
  it('start --wait puts the answer on standard output and everything else on standard error', async () => {
    const { code, stdout, stderr } = await project.run(
      ['threads', 'start', 'helper', 'how is the weather?', '--id', 'waited', '--wait'],
      { alone: true },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The tool says: sunny in Paris\n' });
    expect(stderr).toContain('thread waited');
    expect(stderr).toContain('· weather {"city":"Paris"}');
  });

  it('regenerate and edit put another answer in place of the one that the thread has', async () => {
    const id = await startThread();
    await run('threads', 'send', id, 'hello', '--id', 'm1', '--wait');
    const texts = async () => (await show(id)).messages.map(({ content }) => content);
    expect((await run('threads', 'regenerate', id, '--wait')).stdout).toBe('You said: hello\n');
    expect(await texts()).toEqual(['hello', 'You said: hello']);
    const { code, stdout } = await run('threads', 'edit', id, 'm1', 'good evening', '--wait');
    expect([code, stdout]).toEqual([0, 'You said: good evening\n']);
    expect(await texts()).toEqual(['good evening', 'You said: good evening']);
    const refused = await run('threads', 'edit', id, 'nobody', 'x');
    expect([refused.code, refused.stderr.includes('MessageNotFound')]).toEqual([3, true]);
  });

  it('fork --wait answers in a new thread, which show names as a fork', async () => {
    const id = await startThread();
    await run('threads', 'send', id, 'hello', '--wait');
    const forked = await run(
      'threads',
      'fork',
      id,
      '--at',
      '1',
      '--id',
      'the-fork',
      '--message',
      'again',
      '--wait',
    );
    expect(forked).toMatchObject({ code: 0, stdout: 'You said: again\n' });
    const repeated = await run(
      'threads',
      'fork',
      id,
      '--at',
      '1',
      '--id',
      'the-fork',
      '--message',
      'again',
      '--wait',
    );
    expect(repeated).toMatchObject({ code: 0, stdout: 'You said: again\n' });
    const asked = (await show('the-fork')).messages.filter(({ content }) => content === 'again');
    expect(asked).toHaveLength(1);
    expect((await run('threads', 'show', 'the-fork')).stdout).toMatch(`fork of   ${id} after step 1`);
    const json = await run('threads', 'fork', id, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ from: id, at: 1, state: 'head', messages: 2 });
    const refused = await run('threads', 'fork', id, '--at', '7');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no step 7') });
    expect((await run('threads', 'fork', id, '--agent', 'nobody')).code).not.toBe(0);
  });

  it('show --json has the thread and its messages, oldest first, in the shape of the store', async () => {
    const id = await startThread('--user', 'ada', '--arguments', '{"city":"Rome"}');
    expect((await run('threads', 'send', id, 'hello', '--wait')).stdout).toBe('You said: hello\n');
    const { thread, messages } = await show(id);
    expect(thread).toMatchObject({
      id,
      agent: 'helper',
      status: 'idle',
      userId: 'ada',
      arguments: { city: 'Rome' },
    });
    expect(messages).toEqual([
      expect.objectContaining({ role: 'user', content: 'hello', status: 'completed', tool_calls: null }),
      expect.objectContaining({
        role: 'assistant',
        content: 'You said: hello',
        created_at: expect.stringMatching(/Z$/),
      }),
    ]);
    const text = (await run('threads', 'show', id)).stdout;
    expect(text).toMatch(/status\s+idle/);
    expect(text.indexOf('user: hello')).toBeLessThan(text.indexOf('assistant: You said: hello'));
  });

  it('list sorts by tokens and by the longest wait, and refuses another order for a tag', async () => {
    const id = await startThread('--user', 'sorted');
    await run('threads', 'send', id, 'hello', '--wait');
    const list = async (...options: string[]) => {
      const { stdout } = await run('threads', 'list', '--user', 'sorted', ...options, '--json');
      return JSON.parse(stdout).threads as Record<string, unknown>[];
    };
    const [thread, ...rest] = await list('--sort', 'tokens');
    expect([thread, rest]).toEqual([
      expect.objectContaining({ id, firstWords: 'hello', lastWords: 'You said: hello', waitingFor: null }),
      [],
    ]);
    expect(await list('--sort', 'waiting')).toEqual([]);
    const refused = await run('threads', 'list', '--tag', 'vip', '--sort', 'cost');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('Threads with a tag are listed by creation time');
    expect((await run('threads', 'show', id)).stdout).toMatch(/tokens\s+\d+ in, \d+ out/);
  });

  it('send reads standard input for -, and answers JSON when asked', async () => {
    const id = await startThread();
    const queued = await project.run(['threads', 'send', id, '-', '--id', 'mine', '--json'], {
      input: 'from a pipe\n',
    });
    expect(JSON.parse(queued.stdout)).toEqual({ threadId: id, id: 'mine' });
    // The same message again is stored once, but `--wait` waits nevertheless.
    const again = await run('threads', 'send', id, 'from a pipe', '--id', 'mine', '--wait');
    expect(again.code).toBe(0);
    const waited = JSON.parse((await run('threads', 'send', id, 'more', '--wait', '--json')).stdout);
    expect(waited).toMatchObject({ threadId: id, status: 'idle', error: null, answer: 'You said: more' });
    expect(
      (await show(id)).messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    ).toEqual(['from a pipe', 'more']);
  });

  it('a failed thread ends --wait with exit code 1 and the stored error', async () => {
    const { code, stderr } = await run('threads', 'start', 'helper', 'please break', '--wait');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^invalid_request: the model is broken/m);
    const unknown = await run('threads', 'start', 'nobody', 'hello', '--later', '--wait');
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain('AgentNotFound: Agent "nobody"');
  });

  it.each([
    ['start', ['threads', 'start', 'helpr', 'hello'], `Did you mean 'helper'?`],
    ['chat', ['chat', 'nobody'], 'It has: helper.'],
  ])('%s refuses an unknown agent, and suggests the likely one', async (_, args, meant) => {
    const { code, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/^AgentNotFound: This project has no agent "\w+"\./),
    });
    expect(stderr).toContain(meant);
  });

  it('an unambiguous id prefix stands for the id', async () => {
    await startThread('--id', 'same-one');
    await startThread('--id', 'same-other');
    const shown = await until(({ code }) => code === 0, 'threads', 'show', 'same-on', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ thread: { id: 'same-one' } });
    expect((await run('threads', 'send', 'same-on', 'hello', '--wait')).stdout).toBe('You said: hello\n');
    await until(({ code }) => code === 0, 'threads', 'show', 'same-other');
    expect(await run('threads', 'show', 'same-o')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^InvalidRequest: More than one thread begins with "same-o": same-o/),
    });
    // An exact id is never ambiguous.
    await startThread('--id', 'same');
    expect((await until(({ code }) => code === 0, 'threads', 'show', 'same')).stdout).toContain('same\n');
  });

  it('a failure is JSON where the result would be', async () => {
    const { code, stdout, stderr } = await run('threads', 'show', 'no-such-thread', '--json');
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: { code: 'ThreadNotFound', message: expect.stringContaining('"no-such-thread"') },
    });
  });

  it('stop reports that nothing runs in an idle thread', async () => {
    const id = await startThread('hello', '--wait', '--id', 'resting').then(() => 'resting');
    const { code, stderr } = await run('threads', 'stop', id);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Nothing runs in thread resting.\n' });
    expect(JSON.parse((await run('threads', 'stop', id, '--json')).stdout)).toEqual({
      threadId: id,
      requested: 'stop',
      running: false,
    });
  });

  it('tool runs a tool by name, and its answer can be waited for', async () => {
    const id = await startThread();
    const { code, stdout } = await run('threads', 'tool', id, 'weather', '{"city":"Oslo"}', '--wait');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The tool says: sunny in Oslo\n' });
  });

  it('tool --unanswered calls no model, and --wait shows the result of the call', async () => {
    const id = await startThread();
    const args = ['threads', 'tool', id, 'weather', '{"city":"Oslo"}', '--unanswered'];
    expect(await run(...args, '--wait')).toMatchObject({ code: 0, stdout: 'sunny in Oslo\n' });
    const { stdout } = await run(...args, '--id', 'mine', '--wait', '--json');
    expect(JSON.parse(stdout)).toEqual({
      threadId: id,
      id: 'mine',
      status: 'success',
      content: 'sunny in Oslo',
    });
    expect(await run('threads', 'tool', id, 'nothing', '--unanswered', '--wait')).toMatchObject({ code: 1 });
    const { messages } = await show(id);
    expect(messages.map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
  });

  it('tail --json prints one event per line with a cursor, and plain tail shows the conversation', async () => {
    // At rest before the next message, which could otherwise be answered in one step with the first.
    const id = await startThread('how is the weather?', '--wait', '--json').then(
      (text) => JSON.parse(text).threadId as string,
    );
    await run('threads', 'send', id, 'thanks', '--wait');
    const events = jsonLines((await run('threads', 'tail', id, '--json', '--no-follow')).stdout);
    expect(events[0]).toMatchObject({ seq: 1, type: 'thread.created' });
    expect(
      events.every(
        ({ seq, at, type }) =>
          Number.isInteger(seq) && Number.isInteger(Date.parse(String(at))) && typeof type === 'string',
      ),
    ).toBe(true);
    const cursor = events.at(-3)?.seq as number;
    const rest = jsonLines(
      (await run('threads', 'tail', id, '--after', String(cursor), '--json', '--no-follow')).stdout,
    );
    expect(rest.map(({ seq }) => seq)).toEqual(events.slice(-2).map(({ seq }) => seq));
    const text = (await run('threads', 'tail', id, '--no-follow')).stdout.replace(
      /^\d\d:\d\d:\d\d {2}/gm,
      '',
    );
    const lines = text.replace(/ after [\d.]+ m?s(?=:)/g, ' <time>').split('\n');
    expect(lines.slice(0, 9)).toEqual([
      'A thread of the agent "helper" is created.',
      'user: how is the weather?',
      'A turn begins.',
      'Step 1 asks the model "scripted".',
      expect.stringMatching(/^Step 1 is answered by "scripted" <time>: \d+ tokens in, \d+ out\.$/),
      'Step 1 calls "weather" with {"city":"Paris"}',
      '"weather" returned <time>: sunny in Paris',
      'Step 2 asks the model "scripted".',
      'assistant: The tool says: sunny in Paris',
    ]);
    // The sentences are those of the API, and an answer that is shown while it streams is not shown again.
    expect(text.match(/The tool says/g)).toHaveLength(1);
    const again = (await run('threads', 'tail', id, '--after', String(cursor), '--no-follow')).stdout;
    expect(again.replace(/^\d\d:\d\d:\d\d {2}/gm, '')).toBe('The turn is over: the model has answered.\n');
  });

  it('tail follows tokens as they arrive, stop keeps the text so far, and terminate ends the tail', async () => {
    const id = await startThread('hang please');
    await until(({ code }) => code === 0, 'threads', 'show', id);
    const tail = project.start(['threads', 'tail', id]);
    await seen(tail, 'assistant: I begin, and');
    expect((await run('threads', 'stop', id, '--reason', 'enough')).code).toBe(0);
    await seen(
      tail,
      /I begin, and\n.*Step 1 was stopped; its text so far is kept\.\n.*The turn was stopped: enough\./,
    );
    expect((await run('threads', 'send', id, 'go on', '--wait')).stdout).toBe('You said: go on\n');
    expect((await run('threads', 'terminate', id)).code).toBe(0);
    expect(await tail.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The thread is terminated and accepts nothing more.'),
    });
    expect((await run('threads', 'terminate', id)).code).toBe(0);
    expect(await run('threads', 'send', id, 'anybody?')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^ThreadTerminated: /),
    });
    expect((await show(id)).thread).toMatchObject({ status: 'terminated' });
  });

  it('list filters by status and agent', async () => {
    const id = await startThread('hello', '--wait', '--id', 'listed').then(() => 'listed');
    const { threads } = JSON.parse(
      (await run('threads', 'list', '--agent', 'helper', '--status', 'idle', '--json')).stdout,
    );
    expect(threads).toContainEqual(expect.objectContaining({ id, agent: 'helper', status: 'idle' }));
    expect(JSON.parse((await run('threads', 'list', '--agent', 'nobody-else', '--json')).stdout)).toEqual({
      threads: [],
    });
    expect((await run('threads', 'list', '--limit', '1')).stdout).toMatch(
      /^THREAD +AGENT +STATUS +STEPS +AGE +CHANGED +BEGINS WITH\n.+ \d+[smhd] +\d+[smhd] +\S.+\n$/,
    );
  });

  it('export writes a transcript, and a history that replays', async () => {
    const id = await startThread('hello', '--id', 'exported', '--wait').then(() => 'exported');
    const transcript = JSON.parse((await run('threads', 'export', id)).stdout);
    expect(transcript).toMatchObject({
      thread: { id },
      messages: [{ content: 'hello' }, { content: 'You said: hello' }],
    });
    const { code } = await run('threads', 'export', id, '--format', 'history', '--out', 'history.json');
    expect(code).toBe(0);
    const history = JSON.parse(readFileSync(join(project.folder, 'history.json'), 'utf8'));
    expect(history.events[0]).toMatchObject({
      eventId: '1',
      eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
    });
    await import('../once/temporal-runtime.ts');
    const { Worker } = await import('@temporalio/worker');
    await Worker.runReplayHistory(
      { workflowBundle: { codePath: process.env.EVERTHREAD_TEST_BUNDLE as string } },
      history,
      `thread/${id}`,
    );
  });

  it('start and send attach files, show lists them, and a missing file is named', async () => {
    project.write({ 'notes/first.txt': 'one', 'notes/second.csv': 'a,b' });
    const [first, second] = ['first.txt', 'second.csv'].map((name) =>
      join(project.folder, 'notes', name),
    ) as [string, string];
    const id = 'with-files';
    // At rest before the next message, which could otherwise be answered in one step with the first.
    await startThread('look', '--attach', first, '--attach', second, '--id', id, '--wait');
    const sent = await run('threads', 'send', id, '--attach', second, '--wait');
    expect(sent).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^You said: \[file second\.csv, text\/csv, 3 bytes, /),
    });
    const { stdout } = await run('threads', 'show', id);
    expect(stdout).toMatch(
      /user: look\n {2}\+ first\.txt \(text\/plain, 3 bytes\) \/attachments\/\w+\.txt\n {2}\+ second\.csv /,
    );
    expect(stdout).toMatch(/user:\n {2}\+ second\.csv \(text\/csv, 3 bytes\)/);
    const transcript = JSON.parse((await run('threads', 'export', id)).stdout) as {
      messages: { attachments: object[] | null }[];
    };
    expect(transcript.messages[0]?.attachments).toMatchObject([
      { name: 'first.txt' },
      { name: 'second.csv' },
    ]);
    expect(await run('threads', 'send', id, 'x', '--attach', join(project.folder, 'gone.txt'))).toMatchObject(
      {
        code: 3,
        stderr: expect.stringMatching(/FileNotFound: There is no file .*gone\.txt/),
      },
    );
    expect(await run('threads', 'send', id, 'x', '--attach', project.folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it is a folder'),
    });
  });

  it('escapes control sequences in text of models', async () => {
    const { stdout } = await run('threads', 'start', 'helper', 'escape', '--wait');
    expect(stdout).toBe('red ␛[31m alarm\n');
  });

  it('wrong usage and invalid input end with exit code 2, missing things with 3', async () => {
    const cases: [number, string, ...string[]][] = [
      [2, 'unknown command', 'frobnicate'],
      [2, 'Give a text to send', 'threads', 'send', 'x'],
      [2, 'Give a JSON object', 'threads', 'start', 'helper', '--arguments', '[1]'],
      [2, 'Give a whole number', 'threads', 'list', '--limit', 'many'],
      [2, '1 or more', 'threads', 'list', '--limit', '0'],
      [2, 'no such folder', 'threads', 'list', '--project', 'nowhere'],
      [2, 'InvalidStart', 'threads', 'start', 'helper', '--id', 'a b'],
      [2, 'InvalidMessage', 'threads', 'send', 'x', ''],
      [3, 'ThreadNotFound', 'threads', 'show', 'nope'],
      [3, 'ThreadNotFound', 'threads', 'send', 'nope', 'hello'],
      [3, 'ThreadNotFound', 'threads', 'export', 'nope', '--format', 'history'],
    ];
    await Promise.all(
      // Two cases run in a separate process, which must itself end with the code.
      cases.map(async ([code, words, ...args], index) =>
        expect({ args, ...(await project.run(args, { alone: [0, 8].includes(index) })) }).toEqual({
          args,
          code,
          stdout: '',
          stderr: expect.stringContaining(words),
        }),
      ),
    );
  });

  it('a read command creates no store, and prints a stack only on request', async () => {
    const env = { EVERTHREAD_STORE: 'sqlite:elsewhere/store.db' };
    const [list, debugged] = await Promise.all([
      project.run(['threads', 'list'], { env }),
      project.run(['threads', 'list'], { env: { ...env, EVERTHREAD_LOG: 'debug' } }),
    ]);
    expect(list).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('elsewhere/store.db does not exist'),
    });
    expect(list.stderr).not.toContain('    at ');
    expect(existsSync(join(project.folder, 'elsewhere'))).toBe(false);
    expect(debugged.stderr).toContain('    at ');
  });

  it('a missing server is an error with a remedy', async () => {
    const { code, stderr } = await project.run(['threads', 'start', 'helper'], {
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^TemporalUnavailable: No Temporal server answers at 127\.0\.0\.1:1\. Start one with "everthread dev"/,
    );
  });

  it('an unknown namespace is reported as such, also when a thread is looked up in it', async () => {
    const env = { TEMPORAL_NAMESPACE: 'nowhere' };
    const begun = await project.run(['threads', 'start', 'helper', 'hello', '--wait', '--json']);
    const { threadId } = JSON.parse(begun.stdout);
    const absent = {
      code: 1,
      stderr: expect.stringMatching(
        /^TemporalUnavailable: The Temporal server has no namespace "nowhere"\. Set TEMPORAL_NAMESPACE, or create it: /,
      ),
    };
    expect(await project.run(['threads', 'start', 'helper', 'hello'], { env })).toMatchObject(absent);
    expect(await project.run(['threads', 'send', threadId, 'hello'], { env })).toMatchObject(absent);
    expect(await project.run(['threads', 'delete', threadId], { env })).toMatchObject(absent);
  });
});

describe('everthread chat', () => {
  it('answers each line of its input and prints how to continue', async () => {
    const first = await project.run(['chat', 'helper'], {
      input: 'hello\nhow is the weather?\n',
      alone: true,
    });
    expect(first).toMatchObject({ code: 0, stdout: 'You said: hello\nThe tool says: sunny in Paris\n' });
    const [, id = ''] = /chat --thread (\S+)/.exec(first.stderr) ?? [];
    const second = await project.run(['chat', '--thread', id], { input: 'again\n' });
    expect(second.stdout).toMatch(/user: hello\n[\s\S]+You said: again\n$/);
    expect(await project.run(['chat', 'helper'], { input: '' })).toMatchObject({ code: 0, stdout: '' });
  });

  it('with --json prints a line of JSON for each answer', async () => {
    const { code, stdout } = await project.run(['chat', 'helper', '--json'], { input: 'hello\nagain\n' });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const one = { status: 'idle', stopReason: 'stop_on_response', error: null, id: expect.any(String) };
    const threadId = lines[0].threadId;
    expect([code, lines]).toEqual([
      0,
      [
        { ...one, threadId, answer: 'You said: hello' },
        { ...one, threadId, answer: 'You said: again' },
      ],
    ]);
  });
});
