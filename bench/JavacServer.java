import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import com.sun.tools.javac.tree.JCTree;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles again and again in one process: a JSON array of strings a line in, an answer and a line with NUL out.
 *
 * "check" answers with errors, "references" with a line for each use of a name that the files declare: where it is
 * declared, a tab, where it is used; and after another tab "disputed" where it is a use of an overload.
 */
public class JavacServer {
    public static void main(String[] given) throws Exception {
        PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            List<String> words = words(line);
            List<String> options = new ArrayList<>();
            List<File> files = new ArrayList<>();
            for (String word : words.subList(1, words.size())) {
                if (word.endsWith(".java")) {
                    files.add(new File(word));
                } else {
                    options.add(word);
                }
            }
            StringWriter errors = new StringWriter();
            try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
                JavacTask task = (JavacTask) compiler.getTask(
                    errors, manager, null, options, null, manager.getJavaFileObjectsFromFiles(files));
                if (words.get(0).equals("references")) {
                    references(task, output);
                } else if (!task.call()) {
                    output.println(errors.toString().isBlank() ? "error" : errors);
                }
            }
            output.print("\0\n");
            output.flush();
        }
    }

    private static void references(JavacTask task, PrintStream output) throws IOException {
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        task.analyze();
        Map<Element, String> declared = new HashMap<>();
        Trees trees = Trees.instance(task);
        for (CompilationUnitTree unit : units) {
            new Names(unit, trees) {
                @Override
                void declaration(Element element, String place) {
                    declared.put(element, place);
                }
            }.scan(unit, null);
        }
        for (CompilationUnitTree unit : units) {
            new Names(unit, trees) {
                @Override
                void declaration(Element element, String place) {
                    use(element, place);
                }

                @Override
                void use(Element element, String place) {
                    if (declared.containsKey(element)) {
                        output.println(declared.get(element) + "\t" + place);
                    }
                    for (Element overload : overloads(element)) {
                        if (declared.containsKey(overload)) {
                            output.println(declared.get(overload) + "\t" + place + "\tdisputed");
                        }
                    }
                }
            }.scan(unit, null);
        }
    }

    /** The other methods of that name in its class: whether they are renamed together is a choice. */
    private static List<Element> overloads(Element element) {
        List<Element> found = new ArrayList<>();
        if (element.getKind() == ElementKind.METHOD) {
            for (Element other : element.getEnclosingElement().getEnclosedElements()) {
                if (other != element && other.getSimpleName().equals(element.getSimpleName())) {
                    found.add(other);
                }
            }
        }
        return found;
    }

    /** Goes through the names of a file. */
    private static class Names extends TreePathScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final Trees trees;
        private final SourcePositions positions;
        private final String text;

        Names(CompilationUnitTree unit, Trees trees) throws IOException {
            this.unit = unit;
            this.trees = trees;
            this.positions = trees.getSourcePositions();
            this.text = unit.getSourceFile().getCharContent(true).toString();
        }

        void declaration(Element element, String place) {}

        void use(Element element, String place) {}

        @Override
        public Void visitVariable(VariableTree tree, Void none) {
            declare(((JCTree) tree).pos, tree.getName().toString());
            return super.visitVariable(tree, none);
        }

        @Override
        public Void visitMethod(MethodTree tree, Void none) {
            int at = ((JCTree) tree).pos;
            declare(at, tree.getName().toString());
            Element method = trees.getElement(getCurrentPath());
            if (method != null && method.getKind() == ElementKind.CONSTRUCTOR) {
                Element type = method.getEnclosingElement();
                if (text.startsWith(type.getSimpleName().toString(), at) && !type.getSimpleName().toString().isEmpty()) {
                    use(type, place(at));
                }
            }
            return super.visitMethod(tree, none);
        }

        @Override
        public Void visitClass(ClassTree tree, Void none) {
            String name = tree.getSimpleName().toString();
            long from = Math.max(positions.getEndPosition(unit, tree.getModifiers()), positions.getStartPosition(unit, tree));
            if (!name.isEmpty()) {
                declare(text.indexOf(" " + name, (int) from) + 1, name);
            }
            return super.visitClass(tree, none);
        }

        @Override
        public Void visitIdentifier(IdentifierTree tree, Void none) {
            use(tree, tree.getName().toString());
            return super.visitIdentifier(tree, none);
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree tree, Void none) {
            use(tree, tree.getIdentifier().toString());
            return super.visitMemberSelect(tree, none);
        }

        @Override
        public Void visitMemberReference(MemberReferenceTree tree, Void none) {
            use(tree, tree.getName().toString());
            return super.visitMemberReference(tree, none);
        }

        private void declare(int at, String name) {
            Element element = trees.getElement(getCurrentPath());
            if (element != null && at >= 0 && text.startsWith(name, at)) {
                declaration(element, place(at));
            }
        }

        private void use(Tree tree, String name) {
            int at = (int) positions.getEndPosition(unit, tree) - name.length();
            Element element = trees.getElement(getCurrentPath());
            if (element != null && at >= 0 && text.startsWith(name, at)) {
                use(element, place(at));
            }
        }

        private String place(int at) {
            int start = text.lastIndexOf('\n', at - 1) + 1;
            int column = text.substring(start, at).getBytes(StandardCharsets.UTF_8).length + 1;
            return unit.getSourceFile().getName() + ":" + unit.getLineMap().getLineNumber(at) + ":" + column;
        }
    }

    /** The strings of a JSON array that has nothing else in it. */
    private static List<String> words(String json) {
        List<String> found = new ArrayList<>();
        StringBuilder word = null;
        for (int at = 0; at < json.length(); at++) {
            char letter = json.charAt(at);
            if (word == null) {
                word = letter == '"' ? new StringBuilder() : null;
            } else if (letter == '"') {
                found.add(word.toString());
                word = null;
            } else if (letter != '\\') {
                word.append(letter);
            } else if (json.charAt(++at) == 'u') {
                word.append((char) Integer.parseInt(json.substring(at + 1, at + 5), 16));
                at += 4;
            } else {
                word.append(json.charAt(at));
            }
        }
        return found;
    }
}
