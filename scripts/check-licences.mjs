/**
 * `npm run licences`: checks that every production package has a permissive licence, and none a known severe
 * vulnerability.
 * - A package's own package.json decides, then the lockfile, then its LICENSE file. The lockfile has packages of
 *   other platforms, which are not installed. A package without any licence is refused.
 * - Only the registry knows vulnerabilities. If it does not answer in time, the check is skipped, and that is
 *   reported.
 * Plain JavaScript without dependencies, since it checks them.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
const AUDIT_WITHIN_MS = 30_000;

const PERMISSIVE = new Set([
  ...[
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'CC0-1.0',
    'ISC',
    'MIT',
    'MIT-0',
  ],
  ...['PostgreSQL', 'Python-2.0', 'Unlicense', 'WTFPL', 'Zlib'],
]);
/** Packages under other licences, each with its reason. */
const EXCEPTIONS = {
  'caniuse-lite': { licence: 'CC-BY-4.0', why: 'tables of data, of which nothing is changed or shipped' },
};
const SEVERE = ['high', 'critical'];

const packages = readPackages();
const refused = packages.filter(({ name, licence }) => !isPermitted(name, licence));
for (const { name, version, licence } of refused)
  console.error(
    `${name} ${version}: ${licence ?? 'no licence is told'}, which is not on the list of scripts/check-licences.mjs`,
  );
console.log(`Licences: ${packages.length - refused.length} of ${packages.length} packages are permissive.`);
const severe = await auditPackages();
process.exitCode = refused.length > 0 || severe > 0 ? 1 : 0;

/** Returns the production packages, including those of other platforms. */
function readPackages() {
  const { packages: entries } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries(entries)
    .filter(([path, { dev, link }]) => path !== '' && !dev && !link)
    .map(([path, { version, license: locked }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return {
        name,
        version,
        licence: readLicence(join(ROOT, path)) ?? locked ?? readText(join(ROOT, path)),
      };
    });
}

/** Reads the licence from package.json; old packages have an object, or a list of them. */
function readLicence(folder) {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  const { license, licenses } = JSON.parse(readFileSync(file, 'utf8'));
  const told = [license ?? licenses ?? []]
    .flat()
    .map((each) => (typeof each === 'string' ? each : each?.type));
  return told.length > 0 && told.every(Boolean) ? told.join(' OR ') : undefined;
}

/** Recognises two licences by sentences of their texts. */
function readText(folder) {
  const file = existsSync(folder) && readdirSync(folder).find((name) => /^(un)?licen[sc]e(\.|$)/i.test(name));
  if (!file) return undefined;
  const text = readFileSync(join(folder, file), 'utf8');
  if (/This is free and unencumbered software released into the public domain/.test(text)) return 'Unlicense';
  if (/Permission is hereby granted, free of charge, to any person obtaining a copy/.test(text)) return 'MIT';
  return undefined;
}

function isPermitted(name, licence) {
  if (licence === undefined) return false;
  return EXCEPTIONS[name]?.licence === licence || isPermissive(licence);
}

/** Evaluates an SPDX expression: one of `A OR B` is enough, both of `A AND B` are needed, and AND binds closer. */
function isPermissive(expression) {
  const inner = /\(([^()]*)\)/.exec(expression);
  if (inner) return isPermissive(expression.replace(inner[0], isPermissive(inner[1]) ? 'MIT' : 'refused'));
  const isOne = (term) => PERMISSIVE.has(term.trim());
  return expression.split(/\s+OR\s+/).some((all) => all.split(/\s+AND\s+/).every(isOne));
}

/** Prints the known vulnerabilities, and returns the number of packages with severe ones. */
async function auditPackages() {
  const { output, why } = await runAudit();
  const report = parse(output);
  if (!report?.vulnerabilities) {
    const told = why ?? report?.message ?? report?.error?.summary ?? 'npm audit told nothing';
    console.log(
      `Vulnerabilities: skipped, for the registry does not answer (${String(told).split('\n')[0]}).`,
    );
    return 0;
  }
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, range } of found) console.log(`${name} ${range}: ${severity} vulnerability`);
  const severe = found.filter(({ severity }) => SEVERE.includes(severity)).length;
  console.log(`Vulnerabilities: ${found.length} packages are affected, ${severe} of them severely.`);
  return severe;
}

function runAudit() {
  const args = ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=10000'];
  const npm = process.env.npm_execpath;
  const [command, all] = npm ? [process.execPath, [npm, ...args]] : ['npm', args];
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, all, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'ignore'],
      shell: !npm && process.platform === 'win32',
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve({ output, why: `no answer within ${AUDIT_WITHIN_MS / 1000} s` });
    }, AUDIT_WITHIN_MS);
    child.stdout.on('data', (chunk) => (output += chunk));
    const end = (why) => {
      clearTimeout(timer);
      resolve({ output, why });
    };
    child.on('error', (error) => end(error.message));
    child.on('close', () => end(undefined));
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
