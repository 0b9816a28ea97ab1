/**
 * The types of the package in a project with the strictest compiler options: all types that they mention can be named,
 * one definition of each kind compiles, mistakes lead to messages that name them, and the documentation's examples
 * compile. Also the types of what `everthread new` writes.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeProject } from '../../src/cli/new-project/write-project.ts';
import { loadProject } from '../../src/index.ts';
import { readExamples } from '../docs/page-examples.ts';
import { expectCheckedIn } from '../support/checked-in.ts';
import { type Consumer, createConsumer, type Diagnostic } from './consumer.ts';
import { key, readDeclarations } from './declarations.ts';
import { type DocExample, placeExample, readDocExamples } from './doc-examples.ts';
import { MISTAKES } from './mistakes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FRESH = join(import.meta.dirname, 'fresh-project');

let consumer: Consumer;
let declarations: ReturnType<typeof readDeclarations>;
let examples: readonly DocExample[];
let found: ReadonlyMap<string, readonly Diagnostic[]>;

beforeAll(async () => {
  consumer = await createConsumer();
  const folder = consumer.declarations;
  declarations = readDeclarations(folder, [...entries().values()]);
  examples = readDocExamples(folder, declarations.exported.values());
  const files = [...freshProject(), ...mistakes(), ...readExamples(), ...docExamples()];
  found = await consumer.check(new Map(files));
});
afterAll(() => consumer?.remove());

function freshProject(): [string, string][] {
  return readdirSync(FRESH, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [`fresh/${file}`, readFileSync(join(FRESH, file), 'utf8')]);
}

function mistakes(): [string, string][] {
  return MISTAKES.map(({ source }, index) => [`mistakes/${index}.ts`, source]);
}

function docExamples(): [string, string][] {
  const names = new Map([...entries()].map(([name, file]) => [name, declarations.values(file)]));
  const types = ['type AiSdkLanguageModel'];
  names.set('everthread/models', [...(names.get('everthread/models') ?? []), ...types]);
  return examples.flatMap(({ name, folder, code }): [string, string][] => {
    // Several entries export the same names: an example uses those of its own entry.
    const own = `everthread/${folder}`;
    const ordered = new Map(
      [...names].toSorted(([one], [other]) => Number(other === own) - Number(one === own)),
    );
    return code === undefined
      ? []
      : [[`comments/${folder === '.' ? '' : `${folder}-`}${name}.ts`, placeExample(code, ordered)]];
  });
}

const of = (folder: string) => [...found].filter(([file]) => file.startsWith(folder));

describe('the declarations of the package', () => {
  it('mention no type that no entry exports', () => {
    const { exported, mentions } = declarations;
    const unnamed = mentions.filter(({ name }) => !exported.has(key(name)));
    expect(exported.size).toBeGreaterThan(200);
    expect(mentions.length).toBeGreaterThan(200);
    expect(unnamed.map(({ by, name }) => `${key(by)} mentions ${key(name)}`)).toEqual([]);
  });

  it.each([...entries()])(
    'equal the checked-in ones for %s (EVERTHREAD_WRITE=1 writes them)',
    (name, file) => {
      const place = name.replaceAll('/', '-');
      expectCheckedIn(`test/package/surface/${place}.d.ts.txt`, `${declarations.surface(file)}\n`);
    },
  );

  it('have no type errors', () => {
    expect(of('node_modules/everthread/')).toEqual([]);
  });
});

/** Declaration file of each entry, by the name that a program imports. */
function entries(): Map<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    name: string;
    exports: Readonly<Record<string, string | { types: string }>>;
  };
  const typed = Object.entries(exports).flatMap(([path, entry]): [string, string][] =>
    typeof entry === 'string' ? [] : [[`${name}${path.slice(1)}`, entry.types.replace('./dist/', '')]],
  );
  return new Map(typed);
}

describe('[definitions 2.1] a project of one definition of each kind', () => {
  it('compiles, with declarations of its own, and with typed states', () => {
    expect(of('fresh/')).toEqual([]);
  });

  it('loads without a problem or a warning', async () => {
    const { problems, warnings, registry } = await loadProject(FRESH);
    expect([...problems, ...warnings]).toEqual([]);
    expect(Object.values(registry).filter(({ size }) => size === 0)).toEqual([]);
  });
});

describe('[definitions 2.1] the project of `everthread new`', () => {
  it('compiles with its own tsconfig.json, with files of the standard, whose type errors are reported', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everthread-new-'));
    try {
      writeProject(folder);
      writeFileSync(join(folder, 'agents', 'tools', 'lend.ts'), ofTheStandard("status: 'success'"));
      writeFileSync(join(folder, 'agents', 'tools', 'lose.ts'), ofTheStandard("status: 'lost'"));
      const told = await consumer.checkProject(folder);
      expect([...told.keys()]).toEqual(['agents/tools/lose.ts']);
      expect(told.get('agents/tools/lose.ts')?.[0]?.message).toContain(`Type '"lost"' is not assignable`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function ofTheStandard(result: string): string {
  return `import { defineTool } from '@standardagents/builder';
    import type { ThreadState, ToolResult } from '@standardagents/spec';
    const lend = async (state: ThreadState): Promise<ToolResult> => ({ ${result}, result: state.threadId });
    export default defineTool({ description: 'Lends.', execute: lend });`;
}

describe('a compiler error', () => {
  it.each(MISTAKES.map((mistake, index) => [mistake.title, mistake, index] as const))(
    'names the mistake: %s',
    (_title, { says }, index) => {
      const lines = (found.get(`mistakes/${index}.ts`)?.[0]?.message ?? '')
        .split('\n')
        .map((line) => line.trim());
      for (const words of says) {
        expect(lines).toContainEqual(expect.stringContaining(words));
      }
    },
  );
});

describe('the documented examples', () => {
  it('are numerous', () => {
    expect(readExamples().size).toBeGreaterThan(19);
  });

  it('compile', () => {
    expect([...of('docs-'), ...of('README.md')]).toEqual([]);
  });
});

describe('every public function and class', () => {
  it('has an example in its comment', () => {
    expect(examples.length).toBeGreaterThan(30);
    expect(examples.filter(({ code }) => code === undefined)).toEqual([]);
  });

  it('compiles', () => {
    expect(of('comments/')).toEqual([]);
  });
});
