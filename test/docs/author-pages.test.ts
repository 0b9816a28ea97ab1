/** The pages for authors name every member of the types, and their links resolve. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FOLDERS } from '../../src/definitions/project-file.ts';
import { PAGES } from './page-examples.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** A page, and the types whose members it must name. */
const TOLD: readonly [page: string, types: readonly string[]][] = [
  [
    'threadstate.md',
    ['ThreadState', 'ThreadLoaders', 'EnvState', 'ThreadValues', 'ThreadEffects', 'ScheduledEffect'],
  ],
  [
    'threadstate.md',
    ['ThreadMessages', 'GetMessagesOptions', 'MessageUpdates', 'Message', 'AttachmentRef', 'ToolAttachment'],
  ],
  ['threadstate.md', ['ExecutionState', 'ThreadFamily', 'SubagentRegistryEntry', 'Log', 'GetLogsOptions']],
  ['threadstate.md', ['ThreadFiles', 'FileRecord', 'FileStats', 'GrepResult']],
  [
    'agents.md',
    [
      'AgentInputFields',
      'AiHumanAgentInput',
      'DualAiAgentInput',
      'SideInput',
      'PromptInput',
      'ReasoningInput',
      'VariableInput',
    ],
  ],
  ['agents.md', ['PromptToolInput', 'SubpromptInput', 'SubagentInput']],
  ['tools.md', ['ToolInput', 'ToolResult', 'ToolAttachment', 'VariableInput']],
  ['models.md', ['ModelInput', 'ModelTimeoutsInput', 'ModelCapabilitiesInput']],
  [
    'providers.md',
    [
      'Provider',
      'ProviderFactory',
      'ProviderFactoryConfig',
      'ProviderConfigSlot',
      'ProviderRequest',
      'ProviderResponse',
    ],
  ],
  ['client.md', ['RuntimeClient', 'ConnectOptions', 'StartThread', 'OutgoingMessage']],
  ['client.md', ['StoredFiles', 'StoredValues']],
  ['worker.md', ['WorkerOptions', 'ThreadWorker']],
  ['endpoints.md', ['EndpointOptions', 'ThreadEndpoints']],
  ['hooks.md', ['HookSignatures']],
  ['sandbox.md', ['CodeExecutionOptions', 'CodeExecution', 'CodeExecutionResult', 'CodeExecutionError']],
];

const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => read(`src/${file}`));

describe('the pages for authors', () => {
  it.each(TOLD)('%s names every member of %j', (page, types) => {
    const inline = read(`docs/${page}`)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/`([^`]+)`/g);
    const named = new Set([...inline].flatMap(([, code]) => code?.match(/[\w$]+/g) ?? []));
    const missing = types.flatMap((type) =>
      membersOf(type).flatMap((member) => (named.has(member) ? [] : [`${type}.${member}`])),
    );
    expect(missing).toEqual([]);
  });

  it('list every folder with definitions', () => {
    const listed = [...read('docs/agents.md').matchAll(/^\| `agents\/(\w+)` \|/gm)].map(
      ([, folder]) => folder,
    );
    expect(listed.toSorted()).toEqual(Object.keys(FOLDERS).toSorted());
  });
});

/** Returns the names of the members of an exported interface or class. */
function membersOf(type: string): string[] {
  const declared = new RegExp(`^export (?:interface|class) ${type}\\b[\\s\\S]*?\\{\\n([\\s\\S]*?)^\\}`, 'm');
  const [found = '', ...others] = SOURCES.flatMap((source) => declared.exec(source)?.[1] ?? []);
  const inside = found
    // Members marked as internal are not in the published declarations.
    .replace(/\/\*\*(?:(?!\*\/)[\s\S])*@internal \*\/\n.*/g, '')
    .replace(/\/\*[\s\S]*?\*\//g, '');
  const names = inside.matchAll(/^ {2}(?:static |async |readonly )*([A-Za-z_][\w$]*)\??[:(<]/gm);
  const members = [...new Set([...names].map(([, name]) => name as string))];
  expect([type, members.length > 0, others.length]).toEqual([type, true, 0]);
  return members.filter((name) => name !== 'constructor');
}

describe('links of the pages', () => {
  it('lead from the index to every page', () => {
    const index = read('docs/README.md');
    const others = PAGES.flatMap((page) => (page === 'docs/README.md' ? [] : [page.replace('docs/', '')]));
    expect(others.filter((page) => page !== 'README.md' && !index.includes(`](${page})`))).toEqual([]);
  });

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

/** The anchor of a heading, as code hosts generate it. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
