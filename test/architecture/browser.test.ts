/** Code that runs in a browser: the entry of the client over HTTP, and everything that it loads. */
import { describe, expect, it } from '@jest/globals';
import { readSources } from './source-tree.ts';

const SOURCES = new Map(readSources().map((source) => [source.path, source]));

/** The files that are loaded with a file, itself included, and the packages that they import. */
function loadedBy(entry: string): { readonly files: Set<string>; readonly packages: string[] } {
  const files = new Set([entry]);
  const packages: string[] = [];
  for (const path of files)
    for (const { file, package: name, typeOnly } of SOURCES.get(path)?.imports ?? []) {
      if (typeOnly) continue;
      if (file) files.add(file);
      else packages.push(`${path} imports ${name}`);
    }
  return { files, packages };
}

describe('everthread/client', () => {
  const { files, packages } = loadedBy('client/index.ts');

  it('loads nothing of Node, and no package', () => {
    expect(packages).toEqual([]);
    expect(files).toContain('client/http/http-client.ts');
  });

  it('loads only core and its own files, none of which needs Node', () => {
    const own =
      /^(core\/|client\/(index|event-sink|follow-changes|new-thread-id|outgoing-output|sent-ledger|thread-cursor|http\/[a-z-]+)\.ts|projections\/log-form\.ts)/;
    expect([...files].filter((path) => !own.test(path))).toEqual([]);
    const nodes = /\b(process|Buffer|setImmediate|__dirname|require)\b(?!')/;
    const asking = [...files].filter((path) => nodes.test(SOURCES.get(path)?.code ?? ''));
    expect(asking).toEqual([]);
  });

  it('detects what a file would load', () => {
    expect(loadedBy('client/runtime-client.ts').packages).toContain('client/outgoing.ts imports node:');
  });
});
