/**
 * A project whose agents have the names that MCP's conformance suite calls: each is called like any other agent, works
 * with a model and tools, and answers with its text and files. The model is scripted: on the first request of a turn it
 * calls the agent's tool, on the second one it returns the result.
 */
import { z } from 'zod';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  type RegistryInput,
  registryFrom,
} from '../../src/definitions/index.ts';
import { calls, fails, type ScriptedModel, says, scriptedModel } from '../../src/testing/index.ts';
import { PNG, WAV } from './conformance-files.ts';

type Tool = NonNullable<RegistryInput['tools']>[string];

const written = (
  files: Readonly<Record<string, readonly [content: Uint8Array | string, mimeType: string]>>,
) =>
  defineTool({
    description: 'Writes what is asked for.',
    execute: async (state) => {
      for (const [path, [content, mimeType]] of Object.entries(files))
        await state.writeFile(path, content, mimeType);
      return { status: 'success', result: 'Written.' };
    },
  });

const asked = (question: string, schema: Readonly<Record<string, unknown>>) =>
  defineTool({
    description: 'Asks the user.',
    asks: true,
    execute: async (state) => {
      const { value } = await state.ask({ key: 'form', question, data: { schema } });
      return { status: 'success', result: `User response: ${JSON.stringify(value)}` };
    },
  });

const choices = (...names: string[]) => names.map((name) => ({ const: name, title: name.toUpperCase() }));

/** The tool of each agent; one without a tool answers at once. */
const TOOLS: Readonly<Record<string, Tool | null>> = {
  test_simple_text: null,
  json_schema_2020_12_tool: null,
  test_image_content: written({ '/red.png': [PNG, 'image/png'] }),
  test_audio_content: written({ '/tone.wav': [WAV, 'audio/wav'] }),
  test_embedded_resource: written({ '/notes.txt': ['This is a file of the thread.', 'text/plain'] }),
  test_multiple_content_types: written({
    '/red.png': [PNG, 'image/png'],
    '/data.json': ['{"test":"data","value":123}', 'application/json'],
  }),
  test_tool_with_progress: written({ '/done.txt': ['done', 'text/plain'] }),
  test_error_handling: null,
  test_elicitation: asked('Please provide your information', {
    type: 'object',
    properties: { username: { type: 'string' }, email: { type: 'string' } },
    required: ['username', 'email'],
  }),
  test_elicitation_sep1034_defaults: asked('Please confirm your settings', {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
  }),
  test_elicitation_sep1330_enums: asked('Please choose', {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: choices('value1', 'value2', 'value3') },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: choices('value1', 'value2', 'value3') } },
    },
  }),
};

const address = z.object({ street: z.string(), city: z.string() }).meta({ id: 'address' });
const SCHEMAS: Readonly<Record<string, z.ZodObject>> = {
  json_schema_2020_12_tool: z.object({ name: z.string().optional(), address: address.optional() }),
};

export function conformanceProject() {
  const model: ScriptedModel = scriptedModel(({ messages, tools = [] }) => {
    const last = messages.at(-1);
    if (String(messages[0]?.content).includes('test_error_handling'))
      return fails({ status: 400, message: 'It fails on purpose.' });
    const tool = tools[0]?.function.name;
    return last?.role === 'user' && tool !== undefined
      ? calls(tool, {})
      : says(`It is done: ${last?.content}`);
  });
  const names = Object.keys(TOOLS);
  const tools = Object.fromEntries(
    Object.entries(TOOLS).flatMap(([name, tool]) => (tool ? [[`do_${name}`, tool]] : [])),
  );
  return registryFrom({
    agents: names.map((name) =>
      defineAgent({ name, description: `The agent ${name}.`, sideA: { prompt: `${name}_prompt` } }),
    ),
    prompts: names.map((name) =>
      definePrompt({
        name: `${name}_prompt`,
        toolDescription: name,
        prompt: `You are ${name}.`,
        model: 'scripted',
        requiredSchema: SCHEMAS[name] ?? z.object({}),
        tools: TOOLS[name] ? [`do_${name}`] : [],
      }),
    ),
    models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' })],
    tools,
  });
}
