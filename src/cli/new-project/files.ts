/** The files of a new project: a table of texts. Small, and each shows one idea. */

/** Path relative to the project → content. */
export function projectFiles(name: string): Record<string, string> {
  return {
    'agents/agents/assistant.ts': AGENT,
    'agents/prompts/talk.ts': PROMPT,
    'agents/models/main.ts': MODEL,
    'agents/models/_sample.ts': SAMPLE,
    'agents/tools/current_time.ts': CURRENT_TIME,
    'agents/tools/calculate.ts': CALCULATE,
    'test/assistant.test.mts': TEST,
    'tsconfig.json': TSCONFIG,
    '.env.example': ENV_EXAMPLE,
    'README.md': readme(name),
  };
}

/** Lines that .gitignore must have. */
export const IGNORED = ['node_modules/', '.everthread/', '.env'] as const;

export const SCRIPTS = {
  dev: 'everthread dev',
  chat: 'everthread chat assistant',
  validate: 'everthread validate',
  test: 'everthread test',
} as const;

const AGENT = `import { defineAgent } from 'everthread';

/** Threads are started with this name: \`everthread chat assistant\`. */
export default defineAgent({
  name: 'assistant',
  sideA: { prompt: 'talk' },
  guards: {
    // In long threads, requests contain a summary instead of older messages; the thread keeps all of them.
    compaction: true,
    // A model that repeats its calls is warned, then stopped.
    loops: true,
  },
});
`;

const PROMPT = `import { definePrompt } from 'everthread';

export default definePrompt({
  name: 'talk',
  toolDescription: 'Answers questions.',
  prompt: 'You are a friendly assistant. Answer in a few sentences. Use your tools for the time and for sums.',
  model: 'main',
  tools: ['current_time', 'calculate'],
  // Earlier messages and tool results of the thread are part of each request.
  includeChat: true,
  includePastTools: true,
});
`;

const MODEL = `import { defineModel } from 'everthread';
import { openaiCompatible } from 'everthread/models';
import { sample } from './_sample';

// From .env (see .env.example) or the shell: OPENAI_API_KEY for OpenAI; OPENAI_BASE_URL for any other server that speaks its protocol.
const isConfigured = Boolean(process.env.OPENAI_API_KEY || process.env.OPENAI_BASE_URL);

export default defineModel({
  name: 'main',
  provider: isConfigured ? openaiCompatible() : sample.provider,
  model: isConfigured ? (process.env.OPENAI_MODEL ?? 'gpt-4.1-mini') : 'sample',
});
`;

const SAMPLE = `import { calls, says, scriptedModel } from 'everthread/testing';

/**
 * Used until a real model is configured: it follows this script; everything else is real.
 * Files whose names begin with _ contain no definition.
 */
export const sample = scriptedModel((request) => {
  const last = request.messages.at(-1);
  const text = textOf(last?.content);
  if (last?.role === 'tool') return says(\`\${text}.\`, STREAMED);
  const sum = /(-?\\d+(?:\\.\\d+)?)\\s*([-+*/])\\s*(-?\\d+(?:\\.\\d+)?)/.exec(text);
  if (sum) return calls('calculate', { left: Number(sum[1]), operator: sum[2], right: Number(sum[3]) });
  if (/\\btime\\b/i.test(text)) return calls('current_time', { timeZone: 'UTC' });
  return says(
    'I am the sample model: I follow a script. Ask me for the time, or for a sum such as 6 * 7. ' +
      'Put OPENAI_API_KEY into .env and start again to talk to a real model.',
    STREAMED,
  );
});

const STREAMED = { chunks: 12, chunkDelayMs: 60 };

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join(' ');
  return (content as { text?: string } | null)?.text ?? '';
}
`;

const CURRENT_TIME = `import { defineTool } from 'everthread';
import { z } from 'zod';

/** The file's name is the tool's name. */
export default defineTool({
  description: 'Returns the current date and time.',
  args: z.object({ timeZone: z.string().default('UTC').describe('IANA name, such as Europe/Paris') }),
  // It is safe to run twice, and fast.
  quick: true,
  execute: async (_state, { timeZone }) => {
    const now = new Date().toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
    return { status: 'success', result: \`It is \${now} (\${timeZone})\` };
  },
});
`;

const CALCULATE = `import { defineTool } from 'everthread';
import { z } from 'zod';

export default defineTool({
  description: 'Calculates with two numbers.',
  args: z.object({ left: z.number(), operator: z.enum(['+', '-', '*', '/']), right: z.number() }),
  quick: true,
  execute: async (_state, { left, operator, right }) => {
    // The model receives the error and can react.
    if (operator === '/' && right === 0) return { status: 'error', error: 'Division by zero has no result' };
    const results = { '+': left + right, '-': left - right, '*': left * right, '/': left / right };
    return { status: 'success', result: \`\${left} \${operator} \${right} = \${results[operator]}\` };
  },
});
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calls, says, testAgent } from 'everthread/testing';

/** Starts a real server, worker and store; only the model follows a script. */
test('it calculates with its tool', async (t) => {
  const agent = await testAgent({
    script: [calls('calculate', { left: 6, operator: '*', right: 7 }), says('It is 42.')],
  });
  t.after(() => agent.close());
  const { status, content, toolCalls } = await agent.sendMessage('How much is 6 * 7?');
  assert.equal(status, 'idle');
  assert.equal(content, 'It is 42.');
  assert.equal(toolCalls[0]?.result, '6 * 7 = 42');
});
`;

const ENV_EXAMPLE = `# Settings of the models. Copy this file to .env (do not commit it) and restart "everthread dev".
# Variables of the shell take precedence. Secrets of threads do not belong here: "everthread env set NAME" stores them.

OPENAI_API_KEY=
# OPENAI_MODEL=gpt-4.1-mini
# Another server with the same protocol, such as Ollama; it needs no key:
# OPENAI_BASE_URL=http://127.0.0.1:11434/v1
`;

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "esnext",
    "moduleResolution": "bundler",
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "paths": {
      "@standardagents/spec": ["./node_modules/everthread/dist/standard-agents.d.ts"],
      "@standardagents/builder": ["./node_modules/everthread/dist/standard-agents.d.ts"]
    }
  },
  "include": ["agents", "test"]
}
`;

function readme(name: string): string {
  return `# ${name}

Agents that run as durable threads, with Everthread. It needs Node 24 or newer.

\`\`\`
npm install
npx everthread dev              # Temporal server, worker, reload on change; Ctrl-C stops all of it
npx everthread chat assistant   # in another terminal
npm test                        # needs no server
\`\`\`

Without a key, a sample model answers that follows a script (\`agents/models/_sample.ts\`). For a real model copy
\`.env.example\` to \`.env\`, set \`OPENAI_API_KEY\` there (and \`OPENAI_MODEL\`), or \`OPENAI_BASE_URL\` for another server with the same
protocol, and restart \`everthread dev\`. Variables of your shell take precedence over \`.env\`.

| folder | contains |
| --- | --- |
| \`agents/agents/\` | agents, each with its prompt |
| \`agents/prompts/\` | instructions for the model, and its tools |
| \`agents/models/\` | models, each with its provider |
| \`agents/tools/\` | tools that the model can call; a file's name is the tool's name |
| \`agents/hooks/\`, \`effects/\`, \`api/\` | none yet: code at points of a thread's life, code that runs later, web endpoints |
| \`test/\` | a test of the agent: \`npm test\` runs it on a real engine, with a model that follows a script |
| \`.everthread/\` | threads and the local server's database; not for version control |

Files written for the Standard Agents spec run as they are: imports of \`@standardagents/spec\` and \`@standardagents/builder\` reach
Everthread, with nothing installed; the \`paths\` in \`tsconfig.json\` configure your editor for it.

\`npx everthread validate\` checks the definitions, \`npx everthread doctor\` checks the machine, \`npx everthread --help\` lists all commands.
`;
}
