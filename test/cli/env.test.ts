/** `everthread env …`: variables from a shell, without a server. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Typing } from '../../src/cli/input/read-secret.ts';
import { generateKey } from '../../src/store/crypto/encryption.ts';
import { type CliProject, cliProject, HELPER } from './support.ts';

const SECRET = 'swordfish-4711';
const [oldKey, newKey] = [generateKey('old'), generateKey('new')];
const file = '.everthread/encryption.key';

describe('everthread env', () => {
  let project: CliProject;
  beforeAll(async () => {
    project = await cliProject(HELPER);
  });
  afterAll(() => project.remove());

  const run = (args: string[], input = '', keys: string | undefined = oldKey) =>
    project.run(['env', ...args], { input, env: { EVERTHREAD_ENCRYPTION_KEYS: keys } });
  const list = async (...owner: string[]) =>
    JSON.parse((await run(['list', ...owner, '--json'])).stdout).variables as Record<string, unknown>[];

  it('set takes the value from standard input and never prints it', async () => {
    const { code, stdout, stderr } = await run(['set', 'KEY'], `${SECRET}\n`);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('Set KEY of the instance, a secret.');
    expect(stderr).not.toContain(SECRET);
    const json = await run(['set', 'KEY', '--thread', 't1', '--json'], SECRET);
    expect(JSON.parse(json.stdout)).toEqual({ name: 'KEY', thread: 't1', type: 'secret' });
    expect((await run(['set', 'CITY', '--user', 'ada', '--type', 'text'], ' Paris \r\n')).code).toBe(0);
    expect((await run(['set', 'CITY', '--user', 'ada'], '')).stderr).toContain(
      'Set CITY of user ada, a text, to the empty string.',
    );
  });

  it('list shows each owner’s variables, texts with their value', async () => {
    await run(['set', 'PLACE', '--user', 'ada', '--type', 'text'], 'a line\n\u001b[31mand another');
    expect(await list()).toEqual([
      { name: 'KEY', type: 'secret', keyId: 'old', updatedAt: expect.stringMatching(/Z$/) },
    ]);
    expect((await list('--user', 'ada')).map(({ name, value }) => [name, value])).toEqual([
      ['CITY', ''],
      ['PLACE', 'a line\n\u001b[31mand another'],
    ]);
    const { stdout } = await run(['list', '--user', 'ada']);
    expect(stdout).toMatch(/^NAME +TYPE +SET +VALUE\n/);
    expect(stdout).not.toContain('\u001b[31m');
    expect((await run(['list', '--thread', 'other'])).stderr).toContain('No variables of thread other.');
    const unreadable = await run(['list', '--user', 'ada'], '', newKey);
    expect(unreadable).toMatchObject({ code: 0, stdout: expect.stringContaining('not readable: key "old"') });
  });

  it('rotate re-encrypts everything with the first key, and refuses if a key is missing', async () => {
    const missing = await run(['rotate'], '', newKey);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toMatch(/InvalidConfiguration: The variable .* key "old", which is not among/);
    const both = `${newKey},${oldKey}`;
    expect(JSON.parse((await run(['rotate', '--json'], '', both)).stdout)).toEqual({
      keyId: 'new',
      rotated: 4,
    });
    expect((await run(['rotate'], '', both)).stderr).toContain('Encrypted 0 variables again.');
    expect((await run(['list', '--user', 'ada'], '', newKey)).stdout).toMatch(/^PLACE +text .*another$/m);
  });

  it('unset removes a variable, and ends with 3 if there is none', async () => {
    expect(await run(['unset', 'KEY', '--thread', 't1'])).toMatchObject({ code: 0 });
    const again = await run(['unset', 'KEY', '--thread', 't1', '--json']);
    expect(again.code).toBe(3);
    expect(JSON.parse(again.stdout)).toEqual({ name: 'KEY', thread: 't1', removed: false });
    expect(await list()).toHaveLength(1);
  });

  const REFUSED: [string, string[], string][] = [
    [
      'a name that assigns',
      ['set', 'KEY=value'],
      'InvalidVariable: "KEY=value" is not a valid variable name',
    ],
    ['two owners', ['set', 'KEY', '--thread', 't1', '--user', 'ada'], 'cannot be used with option'],
    ['an owner and the instance', ['list', '--user', 'ada', '--instance'], 'cannot be used with option'],
    [
      'a thread that cannot be',
      ['set', 'KEY', '--thread', 'a b'],
      'InvalidStart: "a b" is not a valid thread id',
    ],
    ['another type', ['set', 'KEY', '--type', 'hidden'], 'Allowed choices are text, secret'],
    ['a value on the command line', ['set', 'KEY', SECRET], 'too many arguments'],
  ];

  it('refuses invalid usage with exit code 2', async () => {
    const refused = REFUSED.map(async ([what, args, told]) => {
      const { code, stderr } = await run(args, SECRET);
      return { what, code, told: stderr.includes(told) ? told : stderr };
    });
    expect(await Promise.all(refused)).toEqual(REFUSED.map(([what, , told]) => ({ what, code: 2, told })));
  });

  it.each([
    ['keys that are not understood', 'not-a-key', /EVERTHREAD_ENCRYPTION_KEYS cannot be used: entry 1/],
    [
      'no key',
      '',
      /InvalidConfiguration: There is no key .*EVERTHREAD_ENCRYPTION_KEYS=k1:KEY.*everthread dev/s,
    ],
  ])('refuses to store anything with %s', async (_what, keys, told) => {
    const { code, stderr } = await run(['set', 'OTHER'], SECRET, keys);
    expect(code).toBe(2);
    expect(stderr).toMatch(told);
    expect(await list()).toHaveLength(1);
    expect(existsSync(join(project.folder, file))).toBe(false);
  });
});

describe('a value typed on a terminal', () => {
  it.each<[string, string[], string | undefined, string]>([
    ['ends with Enter', ['pass', 'word', '\r'], 'entered', 'password'],
    ['pasted as a whole', ['password\r'], 'entered', 'password'],
    ['can be mended', ['pasx\u007fs\bsüx', '\u007f', '\r'], 'entered', 'passü'],
    ['can be started again', ['wrong\u0015right', '\r'], 'entered', 'right'],
    ['takes no arrow keys', ['pa', '\u001b[D', 'ss', '\r'], 'entered', 'pass'],
    ['is empty when nothing was typed', ['\u007f', '\r'], 'entered', ''],
    ['is given up with Ctrl-C', ['pass\u0003'], 'interrupted', 'pass'],
  ])('%s', (_what, keys, end, line) => {
    const typing = new Typing();
    const ends = keys.map((key) => typing.take(key));
    expect(ends.at(-1)).toBe(end);
    expect(typing.line).toBe(line);
  });
});
