/** How a new project depends on Everthread. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { everthreadDependency } from '../../src/cli/new-project/write-project.ts';
import { type CliProject, cliProject } from './support.ts';

let project: CliProject;
/** Folder of the running copy of the package. */
let root: string;

beforeEach(async () => {
  project = await cliProject();
  root = join(project.folder, 'app', 'node_modules', 'everthread');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'package.json'), '{ "name": "everthread", "version": "1.2.3" }');
});
afterEach(() => project.remove());

const dependency = () => everthreadDependency(join(project.folder, 'fresh'), root);

describe('the dependency of a new project', () => {
  it("is the version of the installing project, or a tarball's path relative to the new folder", () => {
    project.write({ 'app/package.json': '{ "dependencies": { "everthread": "^1.0.0" } }' });
    expect(dependency()).toBe('^1.0.0');
    project.write({
      'app/package.json': '{ "devDependencies": { "everthread": "file:../packed/everthread-1.2.3.tgz" } }',
    });
    expect(dependency()).toBe('file:../packed/everthread-1.2.3.tgz');
    expect(everthreadDependency(join(project.folder, 'a', 'b'), root)).toBe(
      'file:../../packed/everthread-1.2.3.tgz',
    );
  });

  it('is the tarball in the lockfile if package.json does not name it', () => {
    const packages = { 'node_modules/everthread': { version: '1.2.3', resolved: 'file:everthread.tgz' } };
    project.write({
      'app/package.json': '{}',
      'app/node_modules/.package-lock.json': JSON.stringify({ packages }),
    });
    expect(dependency()).toBe('file:../app/everthread.tgz');
  });

  it('is the running version by default, and the path of a clone', () => {
    expect(dependency()).toBe('^1.2.3');
    expect(everthreadDependency(join(project.folder, 'fresh'), join(project.folder, 'clone'))).toBe(
      'file:../clone',
    );
  });
});
