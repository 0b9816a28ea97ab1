/** `everthread threads request` for people; what it prints with `--json` is in read-shapes.txt. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SEEDED, seedStore } from './seeded-store.ts';
import { type CliProject, cliProjectWith, HELPER } from './support.ts';

let project: CliProject;
beforeAll(async () => {
  project = await cliProjectWith(seedStore);
  project.write(HELPER);
});
afterAll(() => project.remove());

const run = async (...args: string[]) => {
  const { code, stdout, stderr } = await project.run(['threads', 'request', ...args]);
  return { code, lines: stdout.trimEnd().split('\n'), stderr };
};

describe('threads request', () => {
  it('lists the model calls of a thread', async () => {
    const { code, lines } = await run(SEEDED.thread);
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^CALL +AT +FOR +MODEL +OUTCOME +MESSAGES +BYTES +REQUEST/);
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^1\.1\.1 .* step main +main +ok +2 +\d+ +kept$/),
      expect.stringMatching(/^2\.1\.1 .* step main +main +ok +5 +\d+ +kept$/),
    ]);
  });

  it('shows the newest request, message by message, with its tools and options', async () => {
    const { lines } = await run(SEEDED.thread, 'last');
    expect(lines.slice(0, 3)).toEqual([
      'call 2.1.1, after 1.1.1',
      expect.stringMatching(/^bytes: system \d+, tools \d+, messages \d+, options \d+$/),
      '0 system: You help.',
    ]);
    expect(lines).toContainEqual(expect.stringMatching(/^3 tool: done \{"toolCallId":"c0"/));
    expect(lines).toContainEqual(expect.stringMatching(/^tools: \[\{"function"/));
    expect(lines.at(-1)).toBe('options: {"model":"m-1","providerOptions":{}}');
  });

  it('shows only what differs from the request before', async () => {
    const { lines } = await run(SEEDED.thread, '2.1.1', '--diff');
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/^\+2 assistant: let me look/),
      expect.stringMatching(/^\+3 tool: done/),
      expect.stringMatching(/^\+4 tool: .*broken/),
    ]);
  });

  it('shows a message of several lines so that none of them looks like another message', async () => {
    const { lines } = await run(SEEDED.thread, '1.1.1');
    const at = lines.findIndex((line) => line.startsWith('1 user: '));
    expect(lines.slice(at, at + 2)).toEqual([expect.stringMatching(/^1 user: look$/), expect.any(String)]);
    for (const line of lines.slice(at + 1)) expect(line).toMatch(/^( {4}|tools: |options: )/);
  });

  it('refuses an unknown call, and says how to find one', async () => {
    const { code, stderr } = await run(SEEDED.thread, '9.1.1');
    expect(code).toBe(3);
    expect(stderr).toMatch(/no model call "9\.1\.1".*threads request thread-full/s);
    expect((await run(SEEDED.plain, 'last')).stderr).toMatch(/no model call whose request is kept/);
  });
});
