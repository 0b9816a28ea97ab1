/** `everthread variables …`: variables that subagents wait for, from a shell. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseVariables } from '../../src/cli/input/read-secret.ts';
import { generateKey } from '../../src/store/crypto/encryption.ts';
import { eventually } from '../support/eventually.ts';
import { type CliProject, cliProject, HELPER, type Running, seen } from './support.ts';

const SECRET = 'swordfish-4711';

const FILES: Readonly<Record<string, string>> = {
  ...HELPER,
  'agents/prompts/talk.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({
  name: 'talk', toolDescription: 'Talks.', prompt: 'You talk.', model: 'scripted', tools: ['envoy'], includeChat: true,
});
`,
  'agents/agents/envoy.ts': `
import { defineAgent } from 'everthread';
export default defineAgent({
  name: 'envoy', type: 'dual_ai', exposeAsTool: true, toolDescription: 'Travels.', maxSessionTurns: 4,
  sideA: { prompt: 'travel', sessionStop: { name: 'weather', messageProperty: 'city' } }, sideB: { prompt: 'check' },
  variables: [
    { name: 'PASSPORT', required: true, scoped: true }, { name: 'CITY', type: 'text', required: true, scoped: true },
  ],
});
`,
  'agents/prompts/travel.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({
  name: 'travel', toolDescription: 'Travels.', model: 'scripted', tools: ['weather'], includeChat: true,
  prompt: [{ type: 'text', content: 'You travel to ' }, { type: 'env', property: 'CITY' }],
});
`,
  'agents/prompts/check.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({ name: 'check', toolDescription: 'Checks.', prompt: 'You check.', model: 'scripted' });
`,
  'agents/models/scripted.ts': `
import { defineModel } from 'everthread';
import { calls, says, scriptedModel } from 'everthread/testing';
const model = scriptedModel(({ messages }) => {
  const last = messages.at(-1);
  if (messages[0].content.startsWith('You travel')) return calls('weather', { city: messages[0].content });
  return last.role === 'user' && last.content === 'go' ? calls('envoy') : says('noted');
});
export default defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' });
`,
};

describe('everthread variables', () => {
  let project: CliProject;
  let worker: Running;
  const env = { EVERTHREAD_ENCRYPTION_KEYS: generateKey('k1') };
  beforeAll(async () => {
    project = await cliProject(FILES);
    worker = project.start(['worker', '--json'], env);
    await seen(worker, '"event":"ready"');
  });
  afterAll(() => project.remove());

  const run = (args: string[], input = '') => project.run(args, { input, env });
  const requestOf = async (thread: string): Promise<string> => {
    const { code, stderr } = await run(['threads', 'start', 'helper', 'go', '--id', thread, '--wait']);
    if (code !== 0) throw new Error(stderr);
    const { stdout } = await run(['variables', 'list', thread, '--json']);
    return JSON.parse(stdout).requests[0].id;
  };

  it('lists and shows the required variables', async () => {
    const id = await requestOf('needs-1');
    const { stdout } = await run(['variables', 'list', 'needs-1']);
    expect(stdout).toMatch(/^REQUEST +AGENT +ASKED +MISSING\n/);
    expect(stdout).toMatch(new RegExp(`^${id} +envoy .* PASSPORT CITY$`, 'm'));
    const shown = await run(['variables', 'show', id]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^missing +PASSPORT CITY\n/m) });
    const json = JSON.parse((await run(['variables', 'show', id, '--json'])).stdout);
    expect(json).toEqual({
      id,
      parentId: 'needs-1',
      agent: 'envoy',
      required: ['PASSPORT', 'CITY'],
      missing: ['PASSPORT', 'CITY'],
      createdAt: expect.stringMatching(/Z$/),
      childId: null,
    });
  });

  it('provide takes lines from standard input, starts the subagent, and never prints a value', async () => {
    const id = await requestOf('needs-2');
    const given = await run(['variables', 'provide', id], `PASSPORT=${SECRET}=\r\n\nCITY=Paris\n`);
    expect(given).toMatchObject({ code: 0, stdout: '' });
    expect(given.stderr).toContain('Provided PASSPORT, CITY to the subagent envoy, which starts as thread ');
    expect(given.stderr).not.toContain(SECRET);
    await run(['threads', 'send', 'needs-2', 'and?', '--wait']);
    // Variables of type text are shown to the child's model. The child works concurrently with its parent: its report
    // may come later.
    const stdout = await eventually('the report of the child', async () => {
      const shown = await run(['threads', 'show', 'needs-2', '--silent', '--json']);
      return shown.stdout.includes('You travel to Paris') && shown.stdout;
    });
    expect(stdout).not.toContain(SECRET);
    expect((await run(['variables', 'list', 'needs-2'])).stderr).toContain(
      'No subagent of thread needs-2 waits',
    );
    const again = await run(['variables', 'provide', id], 'PASSPORT=other\n');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('VariableRequestUsed:') });
    const shown = await run(['variables', 'show', id]);
    expect(shown.stdout).toMatch(/^state +answered: its thread is /m);
  });

  it('are a wait too: answered from standard input, and never from the command line', async () => {
    const id = await requestOf('waits-1');
    const { stdout } = await run(['waits', 'list', 'waits-1', '--json']);
    expect(JSON.parse(stdout).waits).toMatchObject([{ id, kind: 'variables', threadId: 'waits-1' }]);
    const value = JSON.stringify({ PASSPORT: 'grenelle', CITY: 'Rome' });
    const refused = await run(['waits', 'answer', id, '--value', value]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--value-stdin') });
    const answered = await run(['waits', 'answer', id, '--value-stdin'], value);
    expect(answered).toMatchObject({ code: 0, stderr: expect.not.stringContaining('grenelle') });
    const again = await run(['variables', 'provide', id], 'PASSPORT=grenelle\nCITY=Rome\n');
    expect(again.stderr).toContain('has been answered');
  });

  it('provide refuses invalid input with the exit code of its reason, and stores nothing', async () => {
    const id = await requestOf('needs-3');
    const provide = (input: string, ...args: string[]) => run(['variables', 'provide', ...args], input);
    const outcomes = await Promise.all([
      provide(`PASSPORT=${SECRET}`, id),
      provide(SECRET, id, 'PASSPORT'),
      provide(`${SECRET}\n`, id),
      provide(`PASSPORT=a\nPASSPORT=${SECRET}`, id),
      provide('', id, `PASSPORT=${SECRET}`),
      provide('PASSPORT=x', 'nobody'),
      run(['variables', 'show', 'nobody']),
      run(['variables', 'list', 'nobody']),
    ]);
    expect(outcomes.map(({ code, stderr }) => [code, stderr.split(':')[0]])).toEqual([
      [1, 'MissingVariable'],
      [1, 'MissingVariable'],
      [2, 'InvalidVariable'],
      [2, 'InvalidVariable'],
      [2, 'InvalidVariable'],
      [3, 'VariableRequestNotFound'],
      [3, 'VariableRequestNotFound'],
      [3, 'ThreadNotFound'],
    ]);
    // Only cases with the secret on standard input: on the command line everyone can read it anyway.
    for (const { stderr } of outcomes.slice(0, 4)) expect(stderr).not.toContain(SECRET);
    expect(JSON.parse((await run(['variables', 'show', id, '--json'])).stdout).childId).toBeNull();
  });

  it('prints with --help how to pass values', async () => {
    const { stdout } = await run(['variables', 'provide', '--help']);
    expect(stdout).toContain('Examples:');
    expect(stdout).toContain('lines NAME=value');
  });
});

describe('lines of variables', () => {
  it('keep the text after the first equals sign, to the end of the line', () => {
    expect(parseVariables('A= x = y \n\n B=\r\nC=é')).toEqual({ A: ' x = y ', B: '', C: 'é' });
    expect(parseVariables('')).toEqual({});
  });

  it.each([
    ['=x', 'Line 1 of standard input is not NAME=value.'],
    ['A=1\nno sign', 'Line 2 of standard input is not NAME=value.'],
    ['A=1\nA=2', 'Line 2 of standard input names a variable that an earlier line has named.'],
    ['B=1', 'Line 1 of standard input names a variable that the command does not name.'],
  ])('that are invalid are reported by line number only: %p', (input, message) => {
    expect(() => parseVariables(input, ['A', 'C'])).toThrow(message);
  });
});
