// Builds the page into dist/. It is committed, because the coop binary embeds it and building coop
// must not need Node. With --check it builds into a temporary directory and compares.
import { build } from "esbuild";
import { copyFile, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const source = join(import.meta.dirname, "src");
const committed = join(import.meta.dirname, "dist");
const copied = ["index.html", "style.css"];
const files = ["page.js", ...copied];

async function buildInto(directory) {
  await mkdir(directory, { recursive: true });
  await build({
    absWorkingDir: import.meta.dirname,
    entryPoints: [join(source, "page.ts")],
    outfile: join(directory, "page.js"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  await Promise.all(copied.map((name) => copyFile(join(source, name), join(directory, name))));
}

async function differing(directory) {
  const same = await Promise.all(
    files.map(async (name) => {
      const [fresh, old] = await Promise.all([
        readFile(join(directory, name)),
        readFile(join(committed, name)).catch(() => undefined),
      ]);
      return old !== undefined && fresh.equals(old);
    }),
  );
  return files.filter((_, index) => !same[index]);
}

if (process.argv.includes("--check")) {
  const directory = await mkdtemp(join(tmpdir(), "coop-web-"));
  try {
    await buildInto(directory);
    const stale = await differing(directory);
    if (stale.length > 0) {
      console.error(`dist/ is out of date (${stale.join(", ")}): run \`npm run build\` and commit.`);
      process.exitCode = 1;
    }
  } finally {
    await rm(directory, { recursive: true });
  }
} else {
  await buildInto(committed);
}
