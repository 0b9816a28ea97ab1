/** The package as strangers get it, with whatever versions of its dependencies' own dependencies the registry has today. */
import { describePublishedPackage } from './published-package.ts';

describePublishedPackage('into an empty project', () => undefined);
