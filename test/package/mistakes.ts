/** Mistakes that authors make, one per file, and the compiler's message for each, which must name the mistake. */

export interface Mistake {
  readonly title: string;
  readonly source: string;
  /** What each line of the first message begins or ends with, in order. */
  readonly says: readonly string[];
}

export const MISTAKES: readonly Mistake[] = [
  {
    title: 'a field that there is not',
    source: `import { defineAgent } from 'everthread';
      export default defineAgent({ name: 'desk', sideA: { prompt: 'answer' }, maxTurns: 3 });`,
    says: [
      "Object literal may only specify known properties, and 'maxTurns' does not exist in type 'AgentInput'.",
    ],
  },
  {
    title: 'a dual_ai agent without its second side',
    source: `import { defineAgent } from 'everthread';
      export default defineAgent({ name: 'desk', type: 'dual_ai', sideA: { prompt: 'answer' } });`,
    says: [
      `Property 'sideB' is missing in type '{ name: string; type: "dual_ai"; sideA: { prompt: string; }; }' but required in type 'DualAiAgentInput'.`,
    ],
  },
  {
    title: 'a word that is none of its words',
    source: `import { defineAgent } from 'everthread';
      export default defineAgent({ name: 'desk', type: 'ai', sideA: { prompt: 'answer' } });`,
    says: [`Type '"ai"' is not assignable to type '"ai_human" | "dual_ai"'.`],
  },
  {
    title: 'a required field that is not there',
    source: `import { definePrompt } from 'everthread';
      export default definePrompt({ name: 'answer', prompt: 'You answer.', model: 'main' });`,
    says: [
      "Property 'toolDescription' is missing in type '{ name: string; prompt: string; model: string; }' but required in type 'PromptInput'.",
    ],
  },
  {
    title: 'a subagent that is resumable without saying who hears',
    source: `import { definePrompt } from 'everthread';
      export default definePrompt({ name: 'answer', toolDescription: 'Answers.', prompt: 'You answer.', model: 'main',
        tools: [{ name: 'researcher', blocking: false, resumable: true }] });`,
    says: ["Type 'true' is not assignable to type 'false | ResumableInput | undefined'."],
  },
  {
    title: 'a provider that was not made',
    source: `import { defineModel } from 'everthread';
      import { openaiCompatible } from 'everthread/models';
      export default defineModel({ name: 'main', provider: openaiCompatible, model: 'gpt-5-mini' });`,
    says: [
      "Type '(options?: OpenaiCompatibleOptions | undefined) => ProviderFactory' is not assignable to type 'ProviderFactory'.",
    ],
  },
  {
    title: 'a status that a result does not have',
    source: `import { defineTool } from 'everthread';
      export default defineTool({ description: 'Finds.', execute: async () => ({ status: 'done', result: 'x' }) });`,
    says: [
      `Type 'Promise<{ status: "done"; result: string; }>' is not assignable to type 'Promise<ToolResult> | ToolResult'.`,
      "Types of property 'status' are incompatible.",
      `Type '"done"' is not assignable to type 'ToolStatus'.`,
    ],
  },
  {
    title: 'a tool that answers nothing',
    source: `import { defineTool } from 'everthread';
      export default defineTool({ description: 'Keeps.', execute: async (state) => { await state.setValue('a', 1); } });`,
    says: [
      "Type '(state: ThreadState<UnknownFields, Scratch, UnknownFields>) => Promise<void>' is not assignable to type",
      "Type 'void' is not assignable to type 'ToolResult'.",
    ],
  },
  {
    title: 'an argument that the schema does not have',
    source: `import { defineTool } from 'everthread';
      import { z } from 'zod';
      export default defineTool({ description: 'Finds.', args: z.object({ id: z.string() }),
        execute: async (_state, { order }) => ({ status: 'success', result: order }) });`,
    says: ["Property 'order' does not exist on type '{ id: string; }'."],
  },
  {
    title: 'arguments of a tool without a schema',
    source: `import { defineTool } from 'everthread';
      export default defineTool({ description: 'Finds.',
        execute: async (_state, args) => ({ status: 'success', result: args.order }) });`,
    says: ["'args' is possibly 'undefined'."],
  },
  {
    title: 'arguments that are no object',
    source: `import { defineTool } from 'everthread';
      import { z } from 'zod';
      export default defineTool({ description: 'Finds.', args: z.string(), execute: async () => ({ status: 'success' }) });`,
    says: [
      "Type 'ZodString' is not assignable to type 'ToolArguments'.",
      `Type '"string"' is not assignable to type '"object"'.`,
    ],
  },
  {
    title: 'a variable that is not awaited',
    source: `import { defineTool } from 'everthread';
      export default defineTool({ description: 'Asks.', execute: async (state) => {
        const key: string = state.env('KEY');
        return { status: 'success', result: key };
      } });`,
    says: ["Type 'Promise<string>' is not assignable to type 'string'."],
  },
  {
    title: 'a hook that there is not',
    source: `import { defineHook } from 'everthread';
      export default defineHook({ hook: 'before_create_mesage', id: 'shorten', execute: async () => {} });`,
    says: [
      `Type '"before_create_mesage"' is not assignable to type`,
      `Did you mean '"before_create_message"'?`,
    ],
  },
  {
    title: 'a hook that answers what it may not',
    source: `import { defineHook } from 'everthread';
      export default defineHook({ hook: 'after_system_message', id: 'polite',
        execute: async (_state, system) => ({ content: system }) });`,
    says: [
      "Type 'Promise<{ content: string; }>' is not assignable to type 'HookAnswer<string | Kept>'.",
      "Type '{ content: string; }' is not assignable to type 'string | Kept'.",
    ],
  },
  {
    title: 'an endpoint that answers data',
    source: `import { defineThreadEndpoint } from 'everthread';
      export default defineThreadEndpoint(async (_request, state) => ({ thread: state.threadId }));`,
    says: ["Type 'Promise<{ thread: string; }>' is not assignable to type 'Promise<Response> | Response'."],
  },
];
