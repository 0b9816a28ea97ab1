/** runtime §8.1: a child that receives files is always given their paths in its own thread. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Message } from '../../src/core/message/message.ts';
import { calls, type ScriptStep, says } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import { testRuntime } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const PLAN = '/attachments/plan "A".txt';
const LEFT = '/attachments/left.txt';
const ARGUMENTS = {
  files: [`/${PLAN}`],
  note: `Begin with ${PLAN}, and leave ${LEFT} alone.`,
  captions: [{ [PLAN]: 'the plan' }],
};

const BRIEF = z.object({
  files: z.array(z.string()),
  note: z.string(),
  captions: z.array(z.record(z.string(), z.string())),
});

const keep = toolOf(async (state) => {
  await state.writeFile(PLAN, 'the plan', 'text/plain');
  await state.writeFile(LEFT, 'not sent', 'text/plain');
});
const tellArguments = toolOf((state) => state.arguments);

/** Makes a child by this call, and returns what its code and its model received. */
async function childOf(made: ScriptStep, entry: object) {
  const model = modelOf({
    main: (request) => {
      if (lastTold(request) === 'make' && !hasResult(request)) return made;
      return hasResult(request) ? says('done') : calls('keep');
    },
    scribe_desk: (request) => (hasResult(request) ? handsIn('written') : calls('tell_arguments')),
  });
  const runtime = await testRuntime({
    registry: childProject({
      model,
      entries: ['keep', { name: 'scribe', ...entry }],
      tools: { keep, tell_arguments: tellArguments },
      main: { tools: ['keep', { name: 'scribe', ...entry }] },
      children: {
        scribe: {
          desk: { prompt: 'You are scribe_desk. {{note}}', requiredSchema: BRIEF, tools: ['tell_arguments'] },
        },
      },
    }),
  });
  const thread = await runtime.start('go');
  await runtime.say(thread, 'make');
  const [child] = await runtime.store.children.list(thread);
  const childId = child?.threadId ?? '';
  const messages = await runtime.messages(childId);
  const asked = messages.find(({ role }) => role === 'user') as Message;
  const request = model.requests.find(({ messages: [first] }) =>
    /^You are scribe/.test(String(first?.content)),
  );
  return {
    asked,
    path: asked.attachments?.[0]?.path ?? '',
    given: JSON.parse(messages.find(({ name }) => name === 'tell_arguments')?.content ?? 'null'),
    told: messages.find(({ metadata }) => metadata.subagentInitialArguments)?.content,
    stored: (await runtime.client.getThread(childId)).arguments,
    request: JSON.stringify(request?.messages),
  };
}

describe('runtime §8.1 Paths of the parent in messages to a child', () => {
  const LOCAL = (path: string) => ({
    files: [path],
    note: `Begin with ${path}, and leave ${LEFT} alone.`,
    captions: [{ [path]: 'the plan' }],
  });

  it('[runtime 8.1] arguments of a call by name, and the message derived from them, have the paths of the copies', async () => {
    const { asked, path, given, told, stored, request } = await childOf(calls('scribe', ARGUMENTS), {
      initAttachmentsProperty: 'files',
    });
    expect(path).toMatch(/^\/attachments\/plan_A_-[0-9a-f]{8}\.txt$/);
    expect(given).toEqual(LOCAL(path));
    expect(stored).toEqual(LOCAL(path));
    expect(JSON.parse(told ?? '')).toEqual(LOCAL(path));
    // No property is mapped to the first message, so the message is made of all arguments.
    expect(JSON.parse(asked.content ?? '')).toMatchObject({
      note: LOCAL(path).note,
      captions: LOCAL(path).captions,
    });
    expect(request).not.toContain('plan \\\\');
    expect(request).toContain(`Begin with ${path}`);
  });

  it('[runtime 8.1] arguments of subagent_create and its message have the paths of the copies', async () => {
    const made = calls('subagent_create', {
      agent: 'scribe',
      name: 'one',
      message: `Read ${PLAN}.`,
      attachments: [PLAN],
      arguments: ARGUMENTS,
    });
    const { asked, path, given, told, stored } = await childOf(made, {
      resumable: { receives_messages: 'side_a' },
    });
    expect(asked.content).toBe(`Read ${path}.`);
    for (const each of [given, stored, JSON.parse(told ?? '')]) expect(each).toEqual(LOCAL(path));
  });
});
