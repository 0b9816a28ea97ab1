/** definitions §13.3: how subagents are offered to a model, and which of its calls are refused. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../../src/core/project/subagent.ts';
import { calls, callsMany, type RecordedRequest, says } from '../../src/testing/index.ts';
import { told } from '../support/prompt-project.ts';
import type { TestRuntime } from '../support/runtime.ts';
import {
  type Cast,
  cast,
  childrenOf,
  create,
  ended,
  type FamilyOptions,
  familyRuntime,
  lastResult,
  offered,
  RESUMABLE,
} from '../support/subagent-project.ts';

const FINISH = calls('finish', { text: 'It is blue.' });
const OK = says('Thanks.');

async function onlyChild(runtime: TestRuntime, thread: string) {
  const [child, ...others] = await childrenOf(runtime, thread);
  expect(others).toEqual([]);
  if (!child) throw new Error('no child');
  return child;
}

const TOPIC = z.object({ topic: z.string(), depth: z.number().default(3) });

/** Returns the tools that the helper's first request offers. */
async function surface(options: Omit<FamilyOptions, 'cast'>) {
  const actors = cast({ main: [OK] });
  const runtime = await familyRuntime({ cast: actors, ...options });
  await runtime.start('go');
  const [request] = actors.of('main');
  const find = (name: string) => request?.tools?.find((tool) => tool.function.name === name)?.function;
  return { names: offered(request as RecordedRequest), find };
}

describe('definitions §13.3 The tool surface', () => {
  it('[definitions 13.3] a non-resumable agent is a tool of its own, with the schema of its side A', async () => {
    const { names, find } = await surface({
      entries: ['scout'],
      prompts: { scout_a: { requiredSchema: TOPIC } },
    });
    expect(names).toEqual(['scout', 'keep']);
    expect(find('scout')).toMatchObject({
      description: 'does what a scout does',
      parameters: { required: ['topic'], additionalProperties: false },
    });
  });

  it('[definitions 13.3] resumable agents are offered through subagent_create, which lists them with their arguments', async () => {
    const { names, find } = await surface({
      agents: { scout: {}, clerk: {} },
      entries: [
        { name: 'scout', resumable: { receives_messages: 'side_a', maxInstances: 2 } },
        { name: 'clerk', blocking: false, resumable: { receives_messages: 'side_b' } },
      ],
      prompts: { scout_a: { requiredSchema: TOPIC } },
    });
    expect(names).toEqual(['keep', SUBAGENT_CREATE]);
    const { description, parameters } = find(SUBAGENT_CREATE) ?? {};
    expect(description).toContain(
      '- scout: does what a scout does (you wait for its result; at most 2 at a time; arguments: topic, depth (optional))',
    );
    expect(description).toContain(
      '- clerk: does what a clerk does (it runs in parallel, and its result arrives as a message; no arguments)',
    );
    expect(parameters).toMatchObject({
      properties: {
        agent: { enum: ['scout', 'clerk'] },
        attachments: { type: 'array' },
        arguments: { properties: { topic: {}, depth: {} }, required: ['topic'] },
      },
      required: ['agent', 'message', 'attachments', 'name'],
      additionalProperties: false,
    });
  });

  it('[definitions 13.3] subagent_message is offered while a resumable child lives', async () => {
    const actors = cast({ main: [calls(SUBAGENT_CREATE, create('x')), OK, OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', ...RESUMABLE }] });
    const thread = await runtime.start('go');
    expect(actors.of('main').map(offered)).toEqual([
      ['keep', SUBAGENT_CREATE],
      ['keep', SUBAGENT_CREATE, SUBAGENT_MESSAGE],
    ]);
    const child = await onlyChild(runtime, thread);
    await runtime.client.terminate(child.threadId);
    await ended(runtime, child.threadId);
    await runtime.say(thread, 'and now?');
    expect(offered(actors.of('main')[2] as RecordedRequest)).toEqual(['keep', SUBAGENT_CREATE]);
  });
});

/** Returns the result of the one call that the helper makes. */
async function resultOf(
  actors: Cast,
  options: Omit<FamilyOptions, 'cast'> = {},
): Promise<{ text: string; status: unknown }> {
  const runtime = await familyRuntime({
    cast: actors,
    entries: [{ name: 'scout', ...RESUMABLE }],
    ...options,
  });
  const thread = await runtime.start('go');
  const result = await lastResult(runtime, thread);
  return { text: result?.content ?? '', status: result?.tool_status };
}

describe('definitions §13.3 Refusals', () => {
  it('[definitions 13.3] each problem of subagent_create is reported, in the order of its checks', async () => {
    const wrong: [object, string][] = [
      [{ agent: '', message: '' }, '"agent" must be the name of an agent.'],
      [{ arguments: 'bees', message: '' }, '"arguments" must be an object.'],
      [{ message: '  ', name: '' }, '"message" must be a string that is not blank.'],
      [
        { attachments: '/attachments/a.txt', name: '' },
        '"attachments" must be a list of paths below /attachments/, and may be empty.',
      ],
      [{ name: 7 }, '"name" must be a string.'],
      [{ name: ' \n ' }, '"name" must not be blank: it identifies the subagent to people.'],
      [
        { colour: 'blue' },
        'unknown fields "colour"; the fields are agent, message, attachments, name, arguments.',
      ],
      [{ agent: 'helper' }, '"agent" must be one of "scout", not "helper".'],
      [
        { attachments: ['/notes/a.txt'] },
        '"/notes/a.txt" is not an attachment: its path must begin with /attachments/.',
      ],
      [
        { attachments: ['/attachments/none.txt'] },
        expect.stringContaining('has no file') as unknown as string,
      ],
    ];
    const asked = wrong.map(([more]) => ({ name: SUBAGENT_CREATE, args: create('x', more) }));
    const actors = cast({ main: [callsMany(asked), OK] });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', ...RESUMABLE }] });
    const thread = await runtime.start('go');
    const results = (await runtime.messages(thread)).filter(({ role }) => role === 'tool');
    expect(results.map(({ tool_status: status }) => status)).toEqual(wrong.map(() => 'error'));
    const head = 'Failed to execute tool: subagent_create: ';
    expect(results.map(({ content }) => content?.replace(head, ''))).toEqual(
      wrong.map(([, problem]) => problem),
    );
    expect(await childrenOf(runtime, thread)).toEqual([]);
  });

  it('[definitions 13.3] arguments that do not match: a code, and the required fields', async () => {
    const actors = cast({ main: [calls(SUBAGENT_CREATE, create('x', { arguments: { depth: 1 } })), OK] });
    const { text, status } = await resultOf(actors, { prompts: { scout_a: { requiredSchema: TOPIC } } });
    expect(status).toBe('error');
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({
      error: expect.stringContaining('Required: topic.') as unknown,
      error_code: 'subagent_arguments_required',
      error_data: { agent: 'scout', required: ['topic'] },
    });
  });

  it('[definitions 13.3] a resumable agent called by its own name: a hint how to create one', async () => {
    const actors = cast({ main: [calls('scout', {}), OK] });
    const { text, status } = await resultOf(actors);
    expect(status).toBe('error');
    expect(text).toContain('create one with subagent_create, agent "scout"');
  });

  it('[definitions 13.3] agents and lifecycle tools that the prompt does not list are refused', async () => {
    const actors = cast({
      main: [callsMany([{ name: 'scout' }, { name: SUBAGENT_CREATE, args: create('x') }]), OK],
    });
    const runtime = await familyRuntime({ cast: actors, entries: [] });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).filter((line) => line.startsWith('tool'))).toEqual([
      'tool scout error: Failed to execute tool: Tool "scout" is not available to this prompt.',
      'tool subagent_create error: Failed to execute tool: Tool "subagent_create" is not available to this prompt.',
    ]);
  });

  it('[definitions 13.3] an unknown, foreign or terminated reference is refused with the living ones', async () => {
    const ask = (referenceId: string) =>
      calls(SUBAGENT_MESSAGE, { referenceId, message: 'well?', attachments: [] });
    const actors = cast({
      main: [
        callsMany([
          { name: SUBAGENT_CREATE, args: create('one') },
          { name: SUBAGENT_CREATE, args: create('two') },
        ]),
        OK,
        ask('nobody'),
        OK,
        (request) =>
          ask(
            told(request)
              .join('\n')
              .match(/reference-of-one: (\S+)/)?.[1] ?? '',
          ),
        OK,
      ],
      scout_a: () => FINISH,
    });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', ...RESUMABLE }] });
    const thread = await runtime.start('go');
    const [one, two] = await childrenOf(runtime, thread);
    await runtime.say(thread, 'ask nobody');
    const living = [one, two].map((each) => `${each?.threadId} (scout "${each?.name}", idle)`).join(', ');
    expect((await lastResult(runtime, thread))?.content).toBe(
      `Failed to execute tool: subagent_message: "nobody" is not a subagent of yours that can be messaged. There are: ${living}.`,
    );
    await runtime.client.terminate(one?.threadId as string);
    await ended(runtime, one?.threadId as string);
    await runtime.say(thread, `reference-of-one: ${one?.threadId}`);
    const { content, tool_status: status } = (await lastResult(runtime, thread)) ?? {};
    expect(status).toBe('error');
    expect(content).toContain(`There are: ${two?.threadId} (`);
  });

  it('[definitions 13.3] above maxInstances: the limit, the living children, and an alternative', async () => {
    const actors = cast({
      main: [
        callsMany([
          { name: SUBAGENT_CREATE, args: create('one') },
          { name: SUBAGENT_CREATE, args: create('two') },
        ]),
        OK,
      ],
      scout_a: [FINISH],
    });
    const resumable = { receives_messages: 'side_a', maxInstances: 1 };
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', resumable }] });
    const thread = await runtime.start('go');
    const child = await onlyChild(runtime, thread);
    expect((await lastResult(runtime, thread))?.content).toBe(
      'Failed to execute tool: subagent_create: there may be one subagent "scout" at a time, and there is: ' +
        `${child.threadId} (scout "about one", idle). Message it with subagent_message instead.`,
    );
  });

  it('[definitions 13.3] a signal may queue the tools offered by the active prompt, and no others', async () => {
    const actors = cast({ main: [OK, OK, OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({
      cast: actors,
      agents: { scout: {}, clerk: {} },
      entries: [{ name: 'scout', ...RESUMABLE }],
    });
    const thread = await runtime.start('go');
    await runtime.client.queueTool(thread, { name: SUBAGENT_CREATE, arguments: create('x') });
    await runtime.client.waitForIdle(thread);
    expect((await lastResult(runtime, thread))?.content).toContain('It is blue.');
    await runtime.client.queueTool(thread, { name: 'clerk', arguments: {} });
    await runtime.client.waitForIdle(thread);
    expect((await lastResult(runtime, thread))?.content).toContain('is not available to this prompt');
  });

  it('[runtime 7.3] an optional subagent is offered and callable while its variable is on', async () => {
    const actors = cast({ main: [calls('scout'), OK, OK, calls('scout'), OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', optional: 'WITH_SCOUTS' }],
    });
    const thread = await runtime.start('go');
    expect((await lastResult(runtime, thread))?.content).toContain(
      '"scout" is not enabled, because the variable "WITH_SCOUTS" is neither true, 1 nor yes',
    );
    const turn = async (value: string) => {
      await runtime.store.env.set({ owner: { thread }, name: 'WITH_SCOUTS', value, type: 'text' });
      await runtime.say(thread, `now it says ${value}`);
    };
    await turn('no');
    await turn(' Yes ');
    expect((await lastResult(runtime, thread))?.content).toBe('It is blue.');
    expect(actors.of('main').map((request) => offered(request).includes('scout'))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
  });
});
