/** The pages for authors name everything that the types offer, and links lead somewhere. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PAGES } from './page-examples.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const AUTHOR = 'src/core/author';
/** The page, and the types of which it names each member. */
const TOLD: readonly [page: string, file: string, types: readonly string[]][] = [
  ['threadstate.md', `${AUTHOR}/thread-state.ts`, ['ThreadState', 'ThreadLoaders']],
  ['threadstate.md', `${AUTHOR}/thread-env.ts`, ['EnvState']],
  ['threadstate.md', `${AUTHOR}/thread-value.ts`, ['ThreadValues']],
  [
    'threadstate.md',
    `${AUTHOR}/thread-message.ts`,
    ['ThreadMessages', 'GetMessagesOptions', 'MessageUpdates'],
  ],
  ['threadstate.md', `${AUTHOR}/thread-execution.ts`, ['ExecutionState']],
  ['threadstate.md', `${AUTHOR}/thread-family.ts`, ['ThreadFamily', 'SubagentRegistryEntry']],
  ['threadstate.md', `${AUTHOR}/effect.ts`, ['ThreadEffects', 'ScheduledEffect']],
  [
    'threadstate.md',
    'src/core/file/thread-file.ts',
    ['ThreadFiles', 'FileRecord', 'FileStats', 'GrepResult'],
  ],
  ['agents.md', 'src/definitions/agent-input.ts', ['AgentInput', 'SideInput']],
  [
    'agents.md',
    'src/definitions/prompt-input.ts',
    ['PromptInput', 'PromptToolInput', 'SubpromptInput', 'SubagentInput', 'ReasoningInput'],
  ],
  ['agents.md', 'src/definitions/variable-input.ts', ['VariableInput']],
  ['tools.md', 'src/definitions/tool-input.ts', ['ToolInput']],
  ['threadstate.md', 'src/core/message/message.ts', ['Message', 'AttachmentRef', 'ToolAttachment']],
  ['threadstate.md', `${AUTHOR}/thread-log.ts`, ['Log', 'GetLogsOptions']],
  ['tools.md', 'src/core/message/message.ts', ['ToolResult', 'ToolAttachment']],
  [
    'models.md',
    'src/definitions/model-input.ts',
    ['ModelInput', 'ModelTimeoutsInput', 'ModelCapabilitiesInput'],
  ],
  ['models.md', 'src/core/message/provider.ts', ['Provider', 'ProviderFactoryConfig']],
  ['client.md', 'src/client/runtime-client.ts', ['RuntimeClient']],
  ['client.md', 'src/client/start-options.ts', ['StartThread']],
  ['client.md', 'src/client/outgoing.ts', ['OutgoingMessage']],
  ['client.md', 'src/client/connect.ts', ['ConnectOptions']],
  ['client.md', 'src/worker/options.ts', ['WorkerOptions']],
  ['client.md', 'src/worker/index.ts', ['ThreadWorker']],
  ['endpoints.md', 'src/server/endpoint.ts', ['EndpointOptions', 'ThreadEndpoints']],
  ['hooks.md', `${AUTHOR}/hook.ts`, ['HookSignatures']],
  [
    'sandbox.md',
    `${AUTHOR}/code-execution.ts`,
    ['CodeExecutionOptions', 'CodeExecution', 'CodeExecutionResult', 'CodeExecutionError'],
  ],
  ['client.md', 'src/client/stored-threads.ts', ['StoredFiles', 'StoredValues', 'ListThreads']],
];

describe('the pages for authors', () => {
  it.each(TOLD)('%s names every member of the types of %s', (page, file, types) => {
    const code = new Set(
      [
        ...read(`docs/${page}`)
          .replace(/^```[\s\S]*?^```$/gm, '')
          .matchAll(/`([^`]+)`/g),
      ].flatMap(([, each]) => each?.match(/[\w$]+/g) ?? []),
    );
    for (const type of types) {
      const members = membersOf(read(file), type);
      expect(members.length).toBeGreaterThan(0);
      expect(members.filter((member) => !code.has(member))).toEqual([]);
    }
  });
});

/** Of an interface or a class at the margin: the names at its first level. */
function membersOf(source: string, type: string): string[] {
  const start = source.search(new RegExp(`^export (?:interface|class) ${type}\\b`, 'm'));
  const opened = source.slice(start, source.indexOf('\n}\n', start));
  const inside = opened
    .slice(opened.search(/\{\n/))
    // Not in the declarations that are published.
    .replace(/\/\*\*(?:(?!\*\/)[\s\S])*@internal \*\/\n.*/g, '')
    .replace(/\/\*[\s\S]*?\*\//g, '');
  const names = inside.matchAll(/^ {2}(?:static |async |readonly )*([A-Za-z_][\w$]*)\??[:(<]/gm);
  return [...new Set([...names].map(([, name]) => name as string))].filter((name) => name !== 'constructor');
}

describe('links of the pages', () => {
  it.each(PAGES)('of %s lead to files and headings that exist', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, file))) return false;
  if (anchor === undefined || statSync(join(ROOT, file)).isDirectory()) return true;
  return [...read(file).matchAll(/^#+ (.+)$/gm)].some(([, heading]) => slug(heading as string) === anchor);
}

/** As code hosts make them. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
